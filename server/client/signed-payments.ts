/** Signed payments on disk: each is saved before it is first sent, and stays until its outcome is delivered. */

import { createHash } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getMember } from '../../shared/json.ts'
import { parseObject } from './json.ts'

/** A paid request: an address to GET, or to POST a JSON body to. */
export type OrderRequest = { readonly url: string; readonly body?: string }

/** An order with its payment. Sending it again unchanged never pays twice. */
export type SignedRequest = OrderRequest & {
  readonly payment: string // the PAYMENT-SIGNATURE header
  readonly salt?: string // which binds the payment's nonce to the order
}

/** A payment on disk, until `remove`. `setAside` keeps it as a proof, which is not sent again, and returns its path. */
export type SavedPayment = SignedRequest & { remove(): Promise<void>; setAside(): Promise<string> }

/** The payments of one wallet at one wall. */
export type SignedPayments = {
  /** Resolves once the request would survive a power cut. Throws a `NotSavedError` if it cannot be saved. */
  save(request: SignedRequest): Promise<SavedPayment>
  /** All stored payments, of this process and of earlier ones. */
  list(): Promise<SavedPayment[]>
}

/** A payment that is not safely on disk, and must not be sent. */
export class NotSavedError extends Error {
  override readonly name = 'NotSavedError'
  readonly leftAt: string | undefined // the path, if the file could not be deleted either

  constructor(cause: unknown, leftAt?: string) {
    super(cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error', { cause })
    this.leftAt = leftAt
  }
}

const ENDING = '.json'
const PAID_ENDING = '.paid'

/** Stores payments in a folder that only its owner may read. */
export function openSignedPayments(
  folder: string,
  sync: (folder: string) => Promise<void> = syncFolder,
): SignedPayments {
  const toSavedPayment = (path: string, request: SignedRequest): SavedPayment => ({
    ...request,
    remove: () => rm(path, { force: true }),
    async setAside() {
      const aside = path.slice(0, -ENDING.length) + PAID_ENDING
      await rename(path, aside)
      await sync(folder)
      return aside
    },
  })
  return {
    async save(request) {
      const name = createHash('sha256').update(request.payment).digest('hex').slice(0, 32)
      const path = join(folder, name + ENDING)
      const unfinished = `${path}.${process.pid}`
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        await writeFile(unfinished, JSON.stringify(request), { mode: 0o600, flush: true })
      } catch (error) {
        await rm(unfinished, { force: true }).catch(() => {})
        throw new NotSavedError(error)
      }
      try {
        // After the rename, the file exists completely or not at all.
        await rename(unfinished, path)
        await sync(folder)
      } catch (error) {
        throw new NotSavedError(error, (await tryToEmpty(path)) ? undefined : path)
      }
      return toSavedPayment(path, request)
    },
    async list() {
      const names = await readdir(folder).catch(returnIfMissing<string[]>([]))
      const paths = names.filter((name) => name.endsWith(ENDING)).map((name) => join(folder, name))
      const read = await Promise.all(
        paths.map(async (path) => [path, parseRequest(await readFile(path, 'utf8'))] as const),
      )
      return read.flatMap(([path, request]) => (request === undefined ? [] : [toSavedPayment(path, request)]))
    },
  }
}

function parseRequest(text: string): SignedRequest | undefined {
  const value = parseObject(text)
  const [url, payment, body, salt] = ['url', 'payment', 'body', 'salt'].map((name) => getMember(value, name))
  if (typeof url !== 'string' || typeof payment !== 'string') return undefined
  return {
    url,
    payment,
    ...(typeof body === 'string' ? { body } : {}),
    ...(typeof salt === 'string' ? { salt } : {}),
  }
}

/**
 * Empties and deletes a file. The file can be flushed even if its folder cannot, so not even a power cut restores the
 * payment; an empty file is not a payment.
 */
async function tryToEmpty(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'r+').catch(returnIfMissing(undefined))
    if (file === undefined) return true
    try {
      await file.truncate()
      await file.sync()
    } finally {
      await file.close()
    }
  } catch {
    return false
  }
  await rm(path, { force: true }).catch(() => {})
  return true
}

async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open a folder, and need not flush it.
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Returns `value` for a system error with the given code; throws any other error. */
export const returnOnCode =
  <T>(code: string, value: T) =>
  (error: unknown): T => {
    if (error instanceof Error && 'code' in error && error.code === code) return value
    throw error
  }

/** Returns `value` if a file or folder is missing; throws any other error. */
export const returnIfMissing = <T>(value: T) => returnOnCode('ENOENT', value)
