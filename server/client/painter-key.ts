/**
 * A key that can repaint but cannot pay. Each purchase names this key as the painter, so that later repaints, such as
 * those of a scheduled job, do not need the key that pays.
 */

import { randomUUID } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { returnOnCode, returnIfMissing } from './signed-payments.ts'

const locateKeyFile = (folder: string) => join(folder, 'painter.key')

/** The painter stored in a folder; `undefined` if there is none. */
export async function keptPainter(folder: string): Promise<PrivateKeyAccount | undefined> {
  const key = await readFile(locateKeyFile(folder), 'utf8').catch(returnIfMissing(undefined))
  return key === undefined ? undefined : privateKeyToAccount(key.trim() as `0x${string}`)
}

/** The painter stored in a folder, created on first use. */
export async function painterIn(folder: string): Promise<PrivateKeyAccount> {
  const kept = await keptPainter(folder)
  if (kept !== undefined) return kept
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const unfinished = `${locateKeyFile(folder)}.${randomUUID()}`
  await writeFile(unfinished, generatePrivateKey(), { mode: 0o600, flush: true })
  // If two processes create a painter at the same time, the first one wins.
  await link(unfinished, locateKeyFile(folder)).catch(returnOnCode('EEXIST', undefined))
  await rm(unfinished)
  return await painterIn(folder)
}
