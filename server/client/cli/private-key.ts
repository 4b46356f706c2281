/**
 * The key that signs: from the environment, a file or a prompt, never from an argument, which other users could read.
 */

import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { UsageError } from './command.ts'

/** The account of the key: from the file, else from the environment, else typed at the terminal, if there is one. */
export async function readAccount(
  file: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Promise<PrivateKeyAccount> {
  if (file !== undefined) return parseAccount(await readKeyFile(file), `the file ${file}`)
  const key = env['PRIVATE_KEY']
  if (key !== undefined && key !== '') return parseAccount(key, 'PRIVATE_KEY')
  if (process.stdin.isTTY) return parseAccount(await askForKey(), 'the input')
  throw new UsageError('A private key is required: set PRIVATE_KEY, or name a file with --key-file.')
}

const KEY_PATTERN = /^(?:0x)?([0-9a-fA-F]{64})$/

function parseAccount(text: string, source: string): PrivateKeyAccount {
  const digits = KEY_PATTERN.exec(text.trim())?.[1]
  // The error does not quote the text, because even an invalid key may be a secret.
  if (digits === undefined) throw new UsageError(`No valid key in ${source}: it must be 0x followed by 64 hex digits.`)
  try {
    return privateKeyToAccount(`0x${digits}`)
  } catch {
    throw new UsageError(`No valid key in ${source}: the number is out of range.`)
  }
}

const readKeyFile = (file: string) =>
  readFile(file, 'utf8').catch(() => {
    throw new UsageError(`Cannot read the key file ${file}.`)
  })

async function askForKey(): Promise<string> {
  process.stderr.write('Private key (hidden): ')
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  try {
    return await lines.question('')
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}
