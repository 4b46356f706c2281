import { expect, test } from 'bun:test'
import { join } from 'node:path'

// Goal: public strings, test titles and comments use the field's usual words in plain sentences. Method: literals,
// comments and lines of texts are searched for a short list of words and shapes; each hit is `path:line`.

const root = join(import.meta.dir, '../../..')

/** The wordings to avoid, and their replacements. */
const HABITS: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(?:tells|told|telling)\b/i, 'report, show, list, say'],
  [/\bmend(?:s|ed|ing)?\b/i, 'fix, repair'],
  [/\banew\b/i, 'again'],
  [/\bwhoever\b|\bwho(?: \w+){1,4} can\b/i, 'the role: the owner, a payer'],
  [/(?:^|[.;:] )(?:Who|Where) (?!.*\?)/, 'the role, or if'],
  [/\b(?:held|holds?) against\b/i, 'compare with'],
  [/\bunder way\b/i, 'in progress'],
  [/\bby itself\b/i, 'automatically'],
  [/\bfor ever\b/i, 'permanently'],
  [/\bstrangers?\b/i, 'other users, untrusted'],
  [/\bnowhere\b/i, 'not ... anywhere'],
  [/(?<!\bthere )\b(?:is|are|was|were) no (?!longer|more)\w/i, 'is not a'],
  [/\bdo(?:es)? not answer\b/i, 'does not respond'],
  [/(?:^|[.;:] )Should (?!.*\?)/, 'if'],
  [/ …/, 'no space before …'],
]

/** Texts for people and agents, searched line by line. */
const TEXTS = [
  'server/discovery/texts/*.md',
  'viewer/*.html',
  'deploy/**/*.{yml,json,conf,cfg,service,timer}',
  'deploy/Caddyfile',
  '.env.example',
  'server/client/README.md',
  'README.md',
  'OPERATING.md',
  'docs/*.md',
]

const PRODUCT = ['{server,viewer,shared,db}/**/*.ts']

// Test files whose titles, including those of table rows, must be whole sentences in plain words.
const TITLED = ['test/{unit,service,engine,e2e,page,endurance}/**/*.ts']

const COMMENTED = ['{server,viewer,shared,db,bench,test}/**/*.ts']

const here = 'test/unit/house/prose.test.ts'

type Words = { readonly at: string; readonly text: string }

async function readFiles(globs: readonly string[]): Promise<readonly (readonly [path: string, text: string])[]> {
  const scans = globs.map((glob) => Array.fromAsync(new Bun.Glob(glob).scan({ cwd: root, dot: true })))
  const paths = (await Promise.all(scans)).flat().filter((path) => path !== here && !/node_modules|dist\//.test(path))
  return await Promise.all(paths.map(async (path) => [path, await Bun.file(join(root, path)).text()] as const))
}

const blankOut = (text: string) => text.replaceAll(/[^\n]/g, ' ')

const stripComments = (text: string) =>
  text.replaceAll(/\/\*[^]*?\*\//g, blankOut).replaceAll(/(^|\s)\/\/.*$/gm, blankOut)

const LITERAL = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g

// Code within a template literal; its closing brace is missing if the code contains another template.
const CODE = /\$\{(?:[^{}]|\{[^{}]*\})*(?:\}|$)/g

/** The literals in code that have several words. */
const listLiterals = ([path, text]: readonly [string, string]): readonly Words[] => {
  const code = stripComments(text)
  return [...code.matchAll(LITERAL)]
    .map(({ 0: literal, index }) => ({
      at: `${path}:${code.slice(0, index).split('\n').length}`,
      text: literal.slice(1, -1).replaceAll(CODE, 'X'),
    }))
    .filter((words) => /\s/.test(words.text))
}

const listLines = ([path, text]: readonly [string, string]): readonly Words[] =>
  text.split('\n').map((line, at) => ({ at: `${path}:${at + 1}`, text: line }))

// A comment on a line of its own, or one after code.
const COMMENT = /^\s*(?:\/\/|\/?\*+)\s?(?<own>.*)|\s\/\/ (?<behind>.*)$/

/** The comments in code, line by line, without the names in backticks. */
const listComments = (file: readonly [string, string]): readonly Words[] =>
  listLines(file).flatMap(({ at, text }) => {
    const { own, behind } = COMMENT.exec(text)?.groups ?? {}
    const comment = own ?? behind
    return comment === undefined ? [] : [{ at, text: comment.replaceAll(/`[^`]*`/g, 'X') }]
  })

const listBreaches = (words: readonly Words[]) =>
  words.flatMap(({ at, text }) =>
    HABITS.flatMap(([pattern, instead]) => {
      const found = pattern.exec(text)?.[0]
      return found === undefined ? [] : [`${at}: “${found.trim()}” (write: ${instead})`]
    }),
  )

test('public strings use none of the words and phrases to avoid', async () => {
  const literals = (await readFiles(PRODUCT)).flatMap(listLiterals)
  expect(literals.length).toBeGreaterThan(2000)
  expect(listBreaches(literals)).toEqual([])
})

test('texts for people and agents use none of the words and phrases to avoid', async () => {
  const lines = (await readFiles(TEXTS)).flatMap(listLines)
  expect(lines.length).toBeGreaterThan(1000)
  expect(listBreaches(lines)).toEqual([])
})

test('comments use none of the words and phrases to avoid', async () => {
  const comments = (await readFiles(COMMENTED)).flatMap(listComments)
  expect(comments.length).toBeGreaterThan(5000)
  expect(listBreaches(comments)).toEqual([])
})

const TITLE = /(?:\b(?:test|law)(?:\.\w+)*|\b(?:test|law)\.\w+\(.*\)|^\s*\](?: as const)?\))\(\s*(['"`])(.*?)\1/gm

// The beginnings of titles that need the words of the `describe` around them, or that name no actor.
const FRAGMENT =
  /^(?:is|are|was|has|have|may|can|shows?|keeps?|lists?|takes?|comes?|changes|leaves?|links?|gives?|says?|does|that|which|who|whoever|what|where|whether|by|with(?!.*, ))\b/

test('test titles use plain words and can be read alone', async () => {
  const files = await readFiles(TITLED)
  expect(files.length).toBeGreaterThan(20)
  expect(listBreaches(files.flatMap(listLiterals))).toEqual([])
  const titles = files.flatMap(([path, text]) => [...text.matchAll(TITLE)].map(([, , title = '']) => ({ path, title })))
  expect(titles.length).toBeGreaterThan(1500)
  expect(titles.filter(({ title }) => FRAGMENT.test(title))).toEqual([])
})

test.each([
  ['The block is told to nobody', 'told'],
  ['a payer who was charged can retry', 'who was charged can'],
  ['That is no block of this wall', 'is no b'],
  ['Should the payment settle, you get the block', 'Should'],
])('the list of phrases to avoid matches “%s”', (text, found) => {
  expect(listBreaches([{ at: 'here', text }])).toEqual([expect.stringContaining(`“${found}”`)])
})
