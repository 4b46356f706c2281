import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../../server/config.ts'
import { loadSettings, parseSettings } from '../../server/settings-file.ts'
import { createScratchFolder } from '../support/scratch-folder.ts'

const parseText = (text: string) => Object.fromEntries(parseSettings(text, 'wall.env'))

test('a settings file is read as systemd reads it', () => {
  const text = [
    '# a comment',
    '; another',
    '',
    'PLAIN=postgres://wall:pa$$w#rd@host/wall',
    'SPACES =  kept within, not around  ',
    "SINGLE='a \\ b $HOME # c '",
    'DOUBLE="a \\"b\\" \\$c \\d"',
    "APOSTROPHE=it's",
    'ESCAPED=a\\$b\\\\c',
    'JOINED="one "\'two\' three',
    'LONG=one\\',
    'two',
    'LINES="-----BEGIN',
    'END-----"',
    'EMPTY=',
    'WINDOWS=value\r',
    'LAST=end',
  ].join('\n')
  expect(parseText(text)).toEqual({
    PLAIN: 'postgres://wall:pa$$w#rd@host/wall',
    SPACES: 'kept within, not around',
    SINGLE: 'a \\ b $HOME # c ',
    DOUBLE: 'a "b" $c \\d',
    APOSTROPHE: "it's",
    ESCAPED: 'a$b\\c',
    JOINED: 'one twothree',
    LONG: 'onetwo',
    LINES: '-----BEGIN\nEND-----',
    EMPTY: '',
    WINDOWS: 'value',
    LAST: 'end',
  })
})

test('a malformed line is reported by its number, without its value', () => {
  const catchParseError = (text: string) => {
    try {
      return parseSettings(text, 'wall.env')
    } catch (error) {
      return error instanceof ConfigError ? error.message : error
    }
  }
  expect(catchParseError('A=1\nexport B=2')).toBe('wall.env, line 2: expected NAME=value.')
  expect(catchParseError('A=1\n\nB="secret')).toBe('wall.env, line 3: the value of B has an unclosed quotation mark.')
})

const folder = createScratchFolder()

test('the environment takes precedence over the settings file, and a settings file that the caller names must exist', () => {
  const path = join(folder, 'wall.env')
  expect(() => loadSettings({}, path)).toThrow(`Cannot read the settings in ${path} (ENOENT).`)
  writeFileSync(path, 'PORT=1\nHOST=one\nDATABASE_PATH=here\n')
  const env = { HOST: 'two', DATABASE_PATH: '' }
  loadSettings(env, path)
  expect<Record<string, string>>(env).toEqual({ HOST: 'two', PORT: '1', DATABASE_PATH: '' })
})

test('the settings file of the machine takes precedence over one in the folder where a command runs', () => {
  const [ofMachine, ofFolder] = [join(folder, 'machine.env'), join(folder, 'folder.env')]
  writeFileSync(ofFolder, 'HOST=folder')
  const readHost = () => {
    const env: Record<string, string | undefined> = {}
    loadSettings(env, undefined, [ofMachine, ofFolder])
    return env['HOST']
  }
  expect(readHost()).toBe('folder')
  writeFileSync(ofMachine, 'HOST=machine')
  expect(readHost()).toBe('machine')
})

test('a setting name that resembles a known one is an error, and any other unknown name causes a warning', () => {
  const path = join(folder, 'misspelt.env')
  const loadText = (text: string) => {
    writeFileSync(path, text)
    return loadSettings({}, path)
  }
  expect(() => loadText('PRIZE=5.00\nport=1\nBASE_URL=x')).toThrow(
    `${path}: unknown setting PRIZE; did you mean PRICE?\n${path}: unknown setting port; did you mean PORT?`,
  )
  expect(loadText('RPC_URL_FILE=x\nDESK_PATH=x\nPGPASSWORD=x\nHTTPS_PROXY=x\nTZ=UTC')).toEqual([])
  expect(loadText('COLOUR=red')).toEqual([`${path}: ignored unknown setting COLOUR.`])
})
