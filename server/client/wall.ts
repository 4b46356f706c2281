/** A wall as a library: what its HTTP interface offers, typed by its contract. */

import { homedir } from 'node:os'
import { join } from 'node:path'
import type { LocalAccount } from 'viem/accounts'
import type { Deed, EditAnswer, ListingQuery, Receipt } from '../../shared/contract/block.ts'
import type { Canvas } from '../../shared/contract/canvas.ts'
import type { Reset, WireChange } from '../../shared/contract/live.ts'
import type { PaintedBlocks, PixelsQuery } from '../../shared/contract/picture.ts'
import type { Spaces, SpaceQuery } from '../../shared/contract/space.ts'
import type { WalletStanding } from '../../shared/contract/wallet.ts'
import { editMessage, type EditFields } from '../../shared/signing.ts'
import { buyer, type Bought, type Buyer, type BuyerOptions } from './buyer.ts'
import { follow } from './follow.ts'
import { errorIn, unreachable, WallError } from './wall-error.ts'

export { keptPainter, painterIn } from './painter-key.ts'
export { WallError } from './wall-error.ts'
export type { FailureKind } from './wall-error.ts'
export type {
  Bought,
  Canvas,
  Deed,
  EditAnswer,
  EditFields,
  ListingQuery,
  PaintedBlocks,
  PixelsQuery,
  Receipt,
  Reset,
  SpaceQuery,
  Spaces,
  WalletStanding,
  WireChange,
}

/** How a wall is used. */
export type WallOptions = BuyerOptions & {
  /** Who pays and signs, as viem's `privateKeyToAccount` makes it. Reading needs none. */
  readonly account?: LocalAccount | undefined
  /** Who may repaint what is bought, and signs repaints where no account does; see `painterIn`. */
  readonly painter?: LocalAccount | undefined
  /** Where signed payments are kept until they are answered; `stateFolder()` where it is left out. */
  readonly folder?: string | undefined
}

/** A wall at an address. Every call throws a `WallError` where the wall does not do it. */
export type Wall = {
  readonly url: URL
  /** Where what the account has not finished is kept. */
  readonly folder: () => string
  /** Buys a block: `next`, or `col,row`. Signs one payment at most; one that was left unfinished is taken up. */
  buy(target?: string, listing?: ListingQuery): Promise<Receipt>
  /** The same, with the payment kept on disk until `done`: for a caller that must hand the receipt on before. */
  purchase(target?: string, listing?: ListingQuery): Promise<Bought>
  /** Finishes purchases that an earlier process left; `onEarlier` is told of each. */
  finish(): Promise<void>
  /** Repaints a block of the account's, or of one whose painter it is: `pixels` are 200 hex digits; `null` clears a message or link. */
  repaint(coord: string, fields: EditFields): Promise<EditAnswer>
  /** The deed of a sold block; `undefined` while it can be bought. */
  block(coord: string): Promise<Deed | undefined>
  canvas(): Promise<Canvas>
  /** What a wallet owns and is waiting for, the account's own where none is named; `undefined` before its first purchase. */
  wallet(address?: string, after?: number): Promise<WalletStanding | undefined>
  /** Free room for `w` x `h` blocks. */
  space(query: Partial<SpaceQuery>): Promise<Spaces>
  /** A PNG or JPEG, or bare RGB or RGBA bytes, as the pixels of `w` x `h` blocks. */
  pixels(image: Uint8Array, query: Partial<PixelsQuery>): Promise<PaintedBlocks>
  /** Every change from now on, or after a number; it reconnects by itself until the signal ends it. */
  follow(options?: {
    readonly after?: number | undefined
    readonly signal?: AbortSignal | undefined
  }): AsyncGenerator<WireChange | Reset>
}

/** Where signed payments are kept: `PIXEL_WALL_HOME`, else a folder of the user's for a program's state. */
export const stateFolder = (env: Readonly<Record<string, string | undefined>> = process.env): string =>
  env['PIXEL_WALL_HOME'] ?? join(env['XDG_STATE_HOME'] ?? join(homedir(), '.local', 'state'), 'pixel-wall')

/** The wall at an address. */
export function wall(address: string | URL, options: WallOptions = {}): Wall {
  const url = new URL(address)
  const at = (path: string, query: Query = {}) => addressOf(url, path, query)
  const buying = once(() => buyerOf(url, options))
  const named = options.painter === undefined ? {} : { painter: options.painter.address }
  const purchase: Wall['purchase'] = (target = 'next', listing = {}) =>
    buying().buy(at(`/blocks/${target}`, { ...named, ...listing }))
  return {
    url,
    folder: () => folderOf(url, options),
    purchase,
    async buy(target, listing) {
      const { receipt, done } = await purchase(target, listing)
      await done()
      return receipt
    },
    finish: () => buying().finish(),
    async repaint(coord, fields) {
      const ts = Date.now()
      const signature = await (options.account ?? options.painter ?? accountOf(options)).signMessage({
        message: editMessage(url.hostname, coord, ts, fields),
      })
      const init = { method: 'PUT', headers: JSON_TYPE, body: JSON.stringify({ ts, signature, ...fields }) }
      return await read<EditAnswer>(at(`/blocks/${coord}`), init)
    },
    async block(coord) {
      const response = await ask(at(`/blocks/${coord}`), { headers: { accept: 'application/json' } })
      if (response.ok) return (await response.json()) as Deed
      if (response.status === 402 || response.status === 409) return undefined
      throw await failureOf(response)
    },
    canvas: () => read<Canvas>(at('/api/canvas')),
    wallet: (address = accountOf(options).address, after = 0) =>
      read<WalletStanding>(at(`/api/agents/${address}`, { after })).catch(unlessUnknownWallet),
    space: (query) => read<Spaces>(at('/api/space', query)),
    pixels: (image, query) => {
      const headers = { 'content-type': imageType(image) }
      return read<PaintedBlocks>(at('/api/pixels', query), { method: 'POST', headers, body: new Uint8Array(image) })
    },
    follow: ({ after, signal } = {}) => follow(at('/api/live'), after, signal),
  }
}

/** What a picture is, by its first bytes. */
function imageType([first, second]: Uint8Array): string {
  if (first === 0x89 && second === 0x50) return 'image/png'
  return first === 0xff && second === 0xd8 ? 'image/jpeg' : 'application/octet-stream'
}

const JSON_TYPE = { 'content-type': 'application/json' }

type Query = Readonly<Record<string, string | number | undefined>>

function addressOf(wall: URL, path: string, query: Query): URL {
  const address = new URL(path, wall)
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) address.searchParams.set(name, String(value))
  return address
}

function accountOf({ account }: WallOptions): LocalAccount {
  if (account === undefined) throw new TypeError('This needs an account: give one to wall(url, { account }).')
  return account
}

const folderOf = (url: URL, options: WallOptions): string =>
  join(options.folder ?? stateFolder(), encodeURIComponent(url.origin), accountOf(options).address)

const buyerOf = (url: URL, options: WallOptions): Buyer =>
  buyer({ ...options, account: accountOf(options), folder: folderOf(url, options) })

function once<T>(make: () => T): () => T {
  let made: { readonly it: T } | undefined
  return () => (made ??= { it: make() }).it
}

async function ask(url: URL, init: RequestInit = {}): Promise<Response> {
  return await fetch(url, init).catch(() => {
    throw unreachable(url)
  })
}

async function read<T>(url: URL, init: RequestInit = {}): Promise<T> {
  const response = await ask(url, init)
  if (!response.ok) throw await failureOf(response)
  return (await response.json()) as T
}

function unlessUnknownWallet(error: unknown): undefined {
  if (!(error instanceof WallError && error.code === 'no_purchases')) throw error
}

const failureOf = async (response: Response): Promise<WallError> =>
  (await errorIn(response)) ??
  new WallError('unavailable', 'no_wall', `No wall answers at ${response.url}: ${response.status}.`, response.status)
