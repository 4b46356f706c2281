/** The client library for a wall: the functions of the wall's HTTP interface, typed by its contract. */

import { join } from 'node:path'
import type { LocalAccount } from 'viem/accounts'
import type { AreaOrder, AreaReceipt } from '../../shared/contract/area-order.ts'
import type { AreaState, EditAreaAnswer } from '../../shared/contract/area.ts'
import type { Deed, EditAnswer, ListingQuery, Receipt } from '../../shared/contract/block.ts'
import type { Canvas } from '../../shared/contract/canvas.ts'
import type { Reset, ChangeDto } from '../../shared/contract/live.ts'
import type { PaintedBlocks, PixelsQuery } from '../../shared/contract/picture.ts'
import type { Spaces, SpaceQuery } from '../../shared/contract/space.ts'
import type { WalletStanding } from '../../shared/contract/wallet.ts'
import { formatAreaMessage, hashPixels, formatEditMessage, type EditFields } from '../../shared/signing.ts'
import { networks } from '../../shared/usdc.ts'
import { truncateWallet } from '../../shared/wallet.ts'
import { createBuyer, openPaymentStore, type Bought, type Buyer, type BuyerOptions } from './buyer.ts'
import { follow, type FollowOptions } from './follow.ts'
import { createAreaOrder, createBlockOrder } from './orders.ts'
import type { Terms } from './payment.ts'
import { detectImageType, toPixelRows } from './picture.ts'
import { parseResponse, fetchJson, fetchJsonWithRetries } from './read.ts'
import { stateFolder } from './state-folder.ts'
import { openChain } from './verify/chain.ts'
import { sendRequest, readError, WallError } from './wall-error.ts'

export { keptPainter, painterIn } from './painter-key.ts'
export { stateFolder } from './state-folder.ts'
export { verify } from './verify/verify.ts'
export type { Finding, FindingKind } from './verify/verdict.ts'
export type { VerifyOptions, WallReport } from './verify/verify.ts'
export { WallError } from './wall-error.ts'
export type { Failure, FailureKind } from './wall-error.ts'
export type {
  AreaReceipt,
  AreaState,
  Bought,
  Canvas,
  Deed,
  EditAnswer,
  EditAreaAnswer,
  EditFields,
  ListingQuery,
  PaintedBlocks,
  PixelsQuery,
  Receipt,
  Reset,
  SpaceQuery,
  Spaces,
  WalletStanding,
  ChangeDto,
}

/** The options of a client for a wall. */
export type WallOptions = BuyerOptions & {
  /** The account that pays and signs, as viem's `privateKeyToAccount` makes it. Reading needs no account. */
  readonly account?: LocalAccount | undefined
  /** The painter that may repaint purchases, and signs repaints if there is no account; see `painterIn`. */
  readonly painter?: LocalAccount | undefined
  /**
   * A `fetch` that responds to a sign-in request (x402's `sign-in-with-x`). It sends repaints if there is neither an
   * account nor a painter.
   */
  readonly signIn?: Fetch | undefined
  /**
   * JSON-RPC endpoints of the wall's network, queried in this order. With endpoints, a payment is signed only if the
   * wallet can pay it.
   */
  readonly rpc?: readonly string[] | undefined
  /** The folder that stores signed payments until their receipts arrive; `stateFolder()` by default. */
  readonly folder?: string | undefined
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>

/**
 * The order of an area: `at` is its top left block, or `next`. `image` is a PNG or JPEG of at most 2 MiB. The wall
 * converts it first, by `fit` and `dither`, so that exactly these pixels are bought.
 */
export type AreaWish = Omit<AreaOrder, 'image' | 'pixels'> & {
  readonly image?: Uint8Array | undefined
  readonly pixels?: Uint8Array | undefined // instead of an image: palette indices, row by row over the whole area
}

/** An owner's changes to an area; `null` clears a message or link. */
export type AreaFields = Pick<EditFields, 'message' | 'link'> & { readonly pixels?: Uint8Array | undefined }

/** A client for the wall at an address. Every call throws a `WallError` if the wall does not carry it out. */
export type Wall = {
  readonly url: URL
  /** The account's address. */
  readonly address: () => string
  /** The folder of the account's unfinished purchases. */
  readonly folder: () => string
  /**
   * Buys a block: `next`, or `col,row`. Signs one payment at most, and resumes an unfinished purchase of the same
   * order.
   */
  buy(target?: string, listing?: ListingQuery): Promise<Receipt>
  /** Buys a block, and keeps the payment on disk until `done`, for a caller that must first hand on the receipt. */
  purchase(target?: string, listing?: ListingQuery): Promise<Bought>
  /** Buys a rectangle of blocks in one payment, all or none; resumes an unfinished purchase of the same order. */
  buyArea(wish: AreaWish): Promise<AreaReceipt>
  /** Buys an area, and keeps the payment on disk until `done`. */
  purchaseArea(wish: AreaWish): Promise<Bought<AreaReceipt>>
  /** Finishes purchases that earlier processes left. Reports them to `onEarlier` or `onOpen`. */
  finish(): Promise<void>
  /**
   * Repaints a block that the account owns or is the painter of: `pixels` are 200 hex digits; `null` clears a message
   * or link.
   */
  repaint(coord: string, fields: EditFields): Promise<EditAnswer>
  /** Repaints an area, named `col,row,WxH`, with one signature. The account must own every block or be its painter. */
  repaintArea(area: string, fields: AreaFields): Promise<EditAreaAnswer>
  /** How much of an area is open, and who owns it. */
  area(area: string): Promise<AreaState>
  /** Whether the account owns every block of an area. */
  owns(area: string): Promise<boolean>
  /** The deed of a sold block; `undefined` for a block that is not sold. */
  block(coord: string): Promise<Deed | undefined>
  canvas(): Promise<Canvas>
  /**
   * The blocks, unfinished purchases and credits of a wallet, by default the account's own; `undefined` before its
   * first purchase.
   */
  wallet(address?: string, after?: number): Promise<WalletStanding | undefined>
  /** Open space for `w` x `h` blocks. */
  space(query: Partial<SpaceQuery>): Promise<Spaces>
  /** Converts a PNG or JPEG, or raw RGB or RGBA bytes, to the pixels of `w` x `h` blocks. */
  pixels(image: Uint8Array, query: Partial<PixelsQuery>): Promise<PaintedBlocks>
  /** Converts a picture to palette indices, row by row over all blocks, as areas accept them. */
  areaPixels(image: Uint8Array, query: Partial<PixelsQuery>): Promise<Uint8Array>
  /** Every change from now on, or after a change number. Reconnects automatically until the signal aborts. */
  follow(options?: FollowOptions): AsyncGenerator<ChangeDto | Reset>
}

/** Makes a client for the wall at an address. */
export function wall(address: string | URL, options: WallOptions = {}): Wall {
  const url = new URL(address)
  const resolvePath = (path: string, query: Query = {}) => resolveUrl(url, path, query)
  let buyer: Buyer | undefined
  const getBuyer = () => (buyer ??= createWallBuyer(url, options, isOwn))
  const named = options.painter === undefined ? {} : { painter: options.painter.address }
  const purchase: Wall['purchase'] = async (target = 'next', listing = {}) =>
    await getBuyer().buy(createBlockOrder(resolvePath, target, { ...named, ...listing }))
  const purchaseArea: Wall['purchaseArea'] = async ({ image, pixels: given, fit, dither, ...listing }) => {
    if (image !== undefined && given !== undefined) throw new TypeError('Give image or pixels, not both.')
    const { w, h } = listing
    const fitting = { ...(fit && { fit }), ...(dither && { dither }) }
    const rows = image === undefined ? given : toPixelRows(await pixels(image, { w, h, ...fitting }))
    return await getBuyer().buy<AreaReceipt>(createAreaOrder(resolvePath('/areas'), { ...named, ...listing }, rows))
  }
  const pixels: Wall['pixels'] = (image, query) => {
    const headers = { 'content-type': detectImageType(image) ?? 'application/octet-stream' }
    const body = new Uint8Array(image)
    return fetchJsonWithRetries<PaintedBlocks>(resolvePath('/api/pixels', query), { method: 'POST', headers, body })
  }
  const area: Wall['area'] = (name) => fetchJson<AreaState>(resolvePath(`/areas/${name}`))
  const isOwn: Wall['owns'] = async (name) => {
    const { owner } = await area(name)
    return owner?.wallet === truncateWallet(requireAccount(options).address)
  }
  const sendChange = async <Answer>(path: string, fields: object, message: (ts: number) => string): Promise<Answer> => {
    const { painter, account = painter, signIn } = options
    if (account === undefined && signIn !== undefined) return await fetchSignedIn(signIn, resolvePath(path), fields)
    const ts = Date.now()
    const signature = await (account ?? requireAccount(options)).signMessage({ message: message(ts) })
    return await fetchJson<Answer>(resolvePath(path), createSendInit('PUT', { ts, signature, ...fields }))
  }
  return {
    url,
    address: () => requireAccount(options).address,
    folder: () => locateFolder(url, options),
    purchase,
    buy: async (target, listing) => await takeReceipt(await purchase(target, listing)),
    purchaseArea,
    buyArea: async (wish) => await takeReceipt(await purchaseArea(wish)),
    finish: () => getBuyer().finish(),
    repaint: (coord, fields) =>
      sendChange<EditAnswer>(`/blocks/${coord}`, fields, (ts) => formatEditMessage(url.hostname, coord, ts, fields)),
    repaintArea(area, { pixels, ...texts }) {
      const signed = { ...texts, pixels: pixels && hashPixels(pixels) }
      const fields = { ...texts, pixels: pixels && toBase64(pixels) }
      return sendChange<EditAreaAnswer>(`/areas/${area}`, fields, (ts) =>
        formatAreaMessage(url.hostname, area, ts, signed),
      )
    },
    area,
    owns: isOwn,
    async block(coord) {
      const response = await sendRequest(resolvePath(`/blocks/${coord}`), { headers: { accept: 'application/json' } })
      if (response.ok) return (await response.json()) as Deed
      if (response.status === 402 || response.status === 409) return undefined
      throw await readError(response)
    },
    canvas: () => fetchJson<Canvas>(resolvePath('/api/canvas')),
    wallet: (address = requireAccount(options).address, after = 0) =>
      fetchJson<WalletStanding>(resolvePath(`/api/agents/${address}`, { after })).catch(ignoreUnknownWallet),
    space: (query) => fetchJson<Spaces>(resolvePath('/api/space', query)),
    pixels,
    areaPixels: async (image, query) => toPixelRows(await pixels(image, query)),
    follow: (followed = {}) => follow(resolvePath('/api/live'), followed),
  }
}

/** Deletes the saved payment, and returns the receipt. */
async function takeReceipt<Got extends Receipt | AreaReceipt>({ receipt, done }: Bought<Got>): Promise<Got> {
  await done()
  return receipt
}

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

const createSendInit = (method: 'PUT' | 'POST', body: object): RequestInit => ({
  method,
  headers: JSON_TYPE,
  body: JSON.stringify(body),
})

const JSON_TYPE = { 'content-type': 'application/json' }

type Query = Readonly<Record<string, string | number | undefined>>

function resolveUrl(wall: URL, path: string, query: Query): URL {
  const address = new URL(path, wall)
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) address.searchParams.set(name, String(value))
  return address
}

function requireAccount({ account }: WallOptions): LocalAccount {
  if (account === undefined) throw new TypeError('This needs an account: pass one to wall(url, { account }).')
  return account
}

const locateFolder = (url: URL, options: WallOptions): string =>
  join(options.folder ?? stateFolder(), encodeURIComponent(url.origin), requireAccount(options).address)

function createWallBuyer(url: URL, options: WallOptions, owns: Wall['owns']): Buyer {
  const [account, { rpc }] = [requireAccount(options), options]
  const readBalance = async ({ network }: Terms) =>
    await (await openChain(rpc ?? [], network)).readBalance(networks[network].token.address, account.address)
  const asked = rpc === undefined ? {} : { readBalance }
  return createBuyer({
    ...options,
    ...asked,
    account,
    isOwnArea: owns,
    ...openPaymentStore(locateFolder(url, options)),
  })
}

/** Makes a change that the wallet authorizes by signing in during the request. */
async function fetchSignedIn<T>(signIn: Fetch, url: URL, fields: object): Promise<T> {
  const response = await signIn(url.href, createSendInit('POST', fields)).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    const message = `The wallet did not sign in: ${why}`
    throw new WallError({ kind: 'unavailable', code: 'sign_in_failed', message })
  })
  return await parseResponse(response)
}

function ignoreUnknownWallet(error: unknown): undefined {
  if (!(error instanceof WallError && error.code === 'no_purchases')) throw error
}
