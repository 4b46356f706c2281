/**
 * A settings file in the format of systemd's `EnvironmentFile`, so that the file means the same with and without
 * systemd.
 */

import { readFileSync } from 'node:fs'
import { findNearestWord } from '../shared/text.ts'
import { ConfigError, SETTING_NAMES } from './config.ts'

// The first file that exists is read. The settings of an installed wall take precedence over a file in the working
// directory, because anybody may have written that file.
const USUAL = ['/etc/pixel-wall.env', '.env']

/**
 * Adds to `env` the variables of the named file, or else of the first default file that exists, unless `env` already
 * has them. Throws `ConfigError` if a file cannot be read or parsed, or misspells a setting. Returns warnings about
 * names that nothing reads.
 */
export function loadSettings(
  env: Record<string, string | undefined>,
  named?: string,
  usual = USUAL,
): readonly string[] {
  for (const path of named === undefined ? usual : [named]) {
    const text = readText(path, named === undefined)
    if (text === undefined) continue
    const settings = parseSettings(text, path)
    const warnings = checkNames(
      settings.map(([name]) => name),
      path,
    )
    for (const [name, value] of settings) env[name] ??= value
    return warnings
  }
  return []
}

// These names are read by the runtime, by the database's client, and by the libraries below them.
const OTHERS = /^(?:PG|BUN_|NODE_|SSL_|LC_)|^(?:TZ|LANG|PATH|TMPDIR)$|_PROXY$/i

/**
 * Throws if a name is almost the name of a setting. If a misspelt price setting were ignored, the wall would sell at
 * the wrong price.
 */
function checkNames(names: readonly string[], path: string): readonly string[] {
  const unknown = names.filter((name) => !SETTING_NAMES.includes(name) && !OTHERS.test(name))
  const suggestions = unknown.map((name) => ({ name, meant: findNearestWord(name.toUpperCase(), SETTING_NAMES) }))
  const misspelt = suggestions.filter(({ meant }) => meant !== undefined)
  if (misspelt.length > 0)
    throw new ConfigError(
      misspelt.map(({ name, meant }) => `${path}: unknown setting ${name}; did you mean ${meant}?`).join('\n'),
    )
  return suggestions.map(({ name }) => `${path}: ignored unknown setting ${name}.`)
}

function readText(path: string, mayLack: boolean): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    if (mayLack && code === 'ENOENT') return undefined
    const advice = code === 'EACCES' ? ' Run this as the wall’s user: runuser -u wall -- pixel-wall ...' : ''
    throw new ConfigError(`Cannot read the settings in ${path} (${code}).${advice}`)
  }
}

const SKIPPED = /[ \t\r]*(?:[#;][^\n]*)?(?:\n|$)/y
const SETTING = /[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*=/y
const QUOTED = /[ \t]*(?:'([^']*)'|"((?:[^"\\]|\\[^])*)")/y
const BARE = /[ \t]*((?:[^\\\n]|\\[^])*)/y

/** The settings in a file's text, in order. Throws a `ConfigError` that names the line if the text cannot be parsed. */
export function parseSettings(text: string, path: string): ReadonlyArray<readonly [name: string, value: string]> {
  const settings: Array<readonly [string, string]> = []
  let at = 0
  const takeMatch = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(text) ?? undefined
    if (found !== undefined) at = pattern.lastIndex
    return found
  }
  while (at < text.length) {
    if (takeMatch(SKIPPED) !== undefined) continue
    const line = text.slice(0, at).split('\n').length
    const name = takeMatch(SETTING)?.[1]
    if (name === undefined) throw new ConfigError(`${path}, line ${line}: expected NAME=value.`)
    let value = ''
    for (let quoted = takeMatch(QUOTED); quoted !== undefined; quoted = takeMatch(QUOTED))
      value += quoted[1] ?? unescapeText(quoted[2] ?? '', /\\(["\\$`\n])/g)
    const bare = takeMatch(BARE)?.[1] ?? ''
    if (/^['"]/.test(bare))
      throw new ConfigError(`${path}, line ${line}: the value of ${name} has an unclosed quotation mark.`)
    settings.push([name, value + unescapeText(bare.trimEnd(), /\\([^])/g)])
  }
  return settings
}

/** The text without its escape characters; a line that ends with an escape character continues on the next line. */
const unescapeText = (text: string, escape: RegExp) =>
  text.replaceAll(escape, (_, character: string) => (character === '\n' ? '' : character))
