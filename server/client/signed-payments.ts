/** Signed payments on disk, each from before it is first sent until its answer was handed on. */

import { createHash } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { memberOf, objectIn } from './json.ts'

/** What a wall sells: an address to GET, or to POST a JSON body to. */
export type OrderRequest = { readonly url: string; readonly body?: string }

/** An order with its payment. Sent again as it is, it never pays twice. */
export type SignedRequest = OrderRequest & {
  readonly payment: string // the PAYMENT-SIGNATURE header
  readonly salt?: string // with which its nonce is bound to the order
}

/** One that is on disk, until `remove`. `setAside` keeps it as a proof, which is not sent again, and answers its path. */
export type SavedPayment = SignedRequest & { remove(): Promise<void>; setAside(): Promise<string> }

/** The payments of one wallet at one wall. */
export type SignedPayments = {
  /** Resolves once the request would outlast a power cut. Throws a `NotSavedError` if that cannot be had. */
  save(request: SignedRequest): Promise<SavedPayment>
  /** All that are there, of this process and of those before it. */
  list(): Promise<SavedPayment[]>
}

/** A payment that is not safely on disk, and must not be sent. */
export class NotSavedError extends Error {
  override readonly name = 'NotSavedError'
  readonly leftAt: string | undefined // if it could not be deleted either

  constructor(cause: unknown, leftAt?: string) {
    super(cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error', { cause })
    this.leftAt = leftAt
  }
}

const ENDING = '.json'
const PAID_ENDING = '.paid'

/** Keeps payments in a folder, which only its owner may read. */
export function signedPayments(folder: string, sync: (folder: string) => Promise<void> = syncFolder): SignedPayments {
  const saved = (path: string, request: SignedRequest): SavedPayment => ({
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
        // The file is there whole or not at all.
        await rename(unfinished, path)
        await sync(folder)
      } catch (error) {
        throw new NotSavedError(error, (await isEmptied(path)) ? undefined : path)
      }
      return saved(path, request)
    },
    async list() {
      const names = await readdir(folder).catch(ifMissing<string[]>([]))
      const paths = names.filter((name) => name.endsWith(ENDING)).map((name) => join(folder, name))
      const read = await Promise.all(
        paths.map(async (path) => [path, requestIn(await readFile(path, 'utf8'))] as const),
      )
      return read.flatMap(([path, request]) => (request === undefined ? [] : [saved(path, request)]))
    },
  }
}

function requestIn(text: string): SignedRequest | undefined {
  const value = objectIn(text)
  const [url, payment, body, salt] = ['url', 'payment', 'body', 'salt'].map((name) => memberOf(value, name))
  if (typeof url !== 'string' || typeof payment !== 'string') return undefined
  return {
    url,
    payment,
    ...(typeof body === 'string' ? { body } : {}),
    ...(typeof salt === 'string' ? { salt } : {}),
  }
}

/**
 * Empties and deletes a file. It can be flushed though its folder cannot, so not even a power cut brings its content back; and an
 * empty file is no payment.
 */
async function isEmptied(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'r+').catch(ifMissing(undefined))
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
  // Windows opens no folder, and needs none to be opened.
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Answers `value` for an error of the system with that code; throws every other error on. */
export const ifCode =
  <T>(code: string, value: T) =>
  (error: unknown): T => {
    if (error instanceof Error && 'code' in error && error.code === code) return value
    throw error
  }

/** What stands for a file or folder that is not there. */
export const ifMissing = <T>(value: T) => ifCode('ENOENT', value)
