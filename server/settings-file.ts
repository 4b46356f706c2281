/** A file of settings, read as systemd reads an `EnvironmentFile`, so that it means the same whoever starts the wall. */

import { readFileSync } from 'node:fs'
import { nearest } from '../shared/text.ts'
import { ConfigError, SETTING_NAMES } from './config.ts'

// The first that exists is read. Where a wall is installed, its settings win over a file in the folder where a command happens
// to run, which anybody may have written.
const USUAL = ['/etc/pixel-wall.env', '.env']

/**
 * Adds to the environment what the file sets and the environment does not: the first of the usual files, unless one is
 * named. Throws `ConfigError` where a file cannot be read or understood, or misspells a setting. Returns warnings about names
 * that nobody reads.
 */
export function loadSettings(
  env: Record<string, string | undefined>,
  named?: string,
  usual = USUAL,
): readonly string[] {
  for (const path of named === undefined ? usual : [named]) {
    const text = textOf(path, named === undefined)
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

// Read by the runtime, by the database's client, and by the libraries below them.
const OTHERS = /^(?:PG|BUN_|NODE_|SSL_|LC_)|^(?:TZ|LANG|PATH|TMPDIR)$|_PROXY$/i

/** Throws for names that are nearly those of settings. A misspelt price would sell at another one. */
function checkNames(names: readonly string[], path: string): readonly string[] {
  const unknown = names.filter((name) => !SETTING_NAMES.includes(name) && !OTHERS.test(name))
  const told = unknown.map((name) => ({ name, meant: nearest(name.toUpperCase(), SETTING_NAMES) }))
  const misspelt = told.filter(({ meant }) => meant !== undefined)
  if (misspelt.length > 0)
    throw new ConfigError(
      misspelt.map(({ name, meant }) => `${path}: unknown setting ${name}; did you mean ${meant}?`).join('\n'),
    )
  return told.map(({ name }) => `${path}: ignored unknown setting ${name}.`)
}

function textOf(path: string, mayLack: boolean): string | undefined {
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

/** The settings of a file's text in order. Throws `ConfigError`, which names the line. */
export function parseSettings(text: string, path: string): ReadonlyArray<readonly [name: string, value: string]> {
  const settings: Array<readonly [string, string]> = []
  let at = 0
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(text) ?? undefined
    if (found !== undefined) at = pattern.lastIndex
    return found
  }
  while (at < text.length) {
    if (take(SKIPPED) !== undefined) continue
    const line = text.slice(0, at).split('\n').length
    const name = take(SETTING)?.[1]
    if (name === undefined) throw new ConfigError(`${path}, line ${line}: expected NAME=value.`)
    let value = ''
    for (let quoted = take(QUOTED); quoted !== undefined; quoted = take(QUOTED))
      value += quoted[1] ?? unescaped(quoted[2] ?? '', /\\(["\\$`\n])/g)
    const bare = take(BARE)?.[1] ?? ''
    if (/^['"]/.test(bare))
      throw new ConfigError(`${path}, line ${line}: the value of ${name} has an unclosed quotation mark.`)
    settings.push([name, value + unescaped(bare.trimEnd(), /\\([^])/g)])
  }
  return settings
}

/** The text without the marks of escape; a line that ends with one goes on. */
const unescaped = (text: string, escape: RegExp) =>
  text.replaceAll(escape, (_, character: string) => (character === '\n' ? '' : character))
