/** Signed payments on disk, each from before it is first sent until its answer was handed on. */

import { createHash } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What a wall sells: an address to GET, or to POST a JSON body to. */
export type Order = { readonly url: string; readonly body?: string }

/** An order with its payment. Sent again as it is, it never pays twice. */
export type SignedRequest = Order & {
  readonly payment: string // the PAYMENT-SIGNATURE header
}

/** One that is on disk, until `remove`. `setAside` keeps it as a proof, which is not sent again, and answers its path. */
export type SavedPayment = SignedRequest & { remove(): Promise<void>; setAside(): Promise<string> }

/** The payments of one wallet at one wall. */
export type SignedPayments = {
  /** Resolves once the request would outlast a power cut. */
  save(request: SignedRequest): Promise<SavedPayment>
  /** All that are there, of this process and of those before it. */
  list(): Promise<SavedPayment[]>
}

const ENDING = '.json'
const PAID_ENDING = '.paid'

/** Keeps payments in a folder, which only its owner may read. */
export function signedPayments(folder: string): SignedPayments {
  const saved = (path: string, request: SignedRequest): SavedPayment => ({
    ...request,
    remove: () => rm(path, { force: true }),
    async setAside() {
      const aside = path.slice(0, -ENDING.length) + PAID_ENDING
      await rename(path, aside)
      await syncFolder(folder)
      return aside
    },
  })
  return {
    async save(request) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const name = createHash('sha256').update(request.payment).digest('hex').slice(0, 32)
      const path = join(folder, name + ENDING)
      await writeDurably(path, JSON.stringify(request))
      await syncFolder(folder)
      return saved(path, request)
    },
    async list() {
      const names = await readdir(folder).catch(ifMissing<string[]>([]))
      const paths = names.filter((name) => name.endsWith(ENDING)).map((name) => join(folder, name))
      const read = await Promise.all(paths.map(async (path) => [path, parsed(await readFile(path, 'utf8'))] as const))
      return read.flatMap(([path, request]) => (request === undefined ? [] : [saved(path, request)]))
    },
  }
}

function parsed(text: string): SignedRequest | undefined {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null) return undefined
  const { url, payment, body } = { url: undefined, payment: undefined, body: undefined, ...value }
  if (typeof url !== 'string' || typeof payment !== 'string') return undefined
  return { url, payment, ...(typeof body === 'string' ? { body } : {}) }
}

/** A file is there whole or not at all. */
async function writeDurably(path: string, text: string): Promise<void> {
  const unfinished = `${path}.${process.pid}`
  await writeFile(unfinished, text, { mode: 0o600, flush: true })
  await rename(unfinished, path)
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
