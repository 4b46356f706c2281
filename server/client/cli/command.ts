/** What every command of `pixel-wall` is made of. */

import { readFile } from 'node:fs/promises'
import type { AreaOrder } from '../../../shared/contract/area-order.ts'
import { imageType } from '../picture.ts'
import type { Wall } from '../wall.ts'

/** The command was called in a way it cannot be. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A command: how it is called, and what it does. */
export type Command = {
  readonly summary: string
  readonly usage: string // its arguments, as in `[next | col,row]`
  readonly options: Readonly<Record<string, string>> // name to what it is; each takes a text
  readonly argumentsMax: number
  readonly flags?: Readonly<Record<string, string>> // options without a text, name to what they are
  readonly failureStatus?: number // exit status of every failure, if it has one of its own
  /** Does it; an exit status, if it has others than 0. */
  run(call: Call): Promise<number | void>
}

/** One call of a command. */
export type Call = {
  readonly args: readonly string[]
  readonly options: Readonly<Record<string, string | undefined>>
  readonly flags: ReadonlySet<string>
  readonly url: URL // of the wall
  /** The wall, with no key: for what is free to read. */
  readonly reader: () => Wall
  /** The wall, with the caller's key, and `--max` as the most to sign for. */
  readonly owner: () => Promise<Wall>
  /** The wall, with the painter's key that is kept here; `undefined` before the first purchase. */
  readonly painter: () => Promise<Wall | undefined>
  /** A line for whoever watches, beside the result. */
  readonly say: (line: string) => void
  /** The result: as JSON where that is asked for, else in lines for people, under a drawing of our own. */
  readonly print: (result: object, lines: readonly string[], drawing?: string) => void
}

/** Reads an address of the network, as the argument or option `what`. */
export function addressOf(text: string, what = '--url'): URL {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) throw new UsageError(`${what} must be an http or https URL.`)
  return new URL(text)
}

/** What payments may cost, as an option. */
export const MAX_OPTION = { max: 'maximum to spend in all, in dollars (default: 1.00)' } as const
export const MAX_DOLLARS = '1.00'

/** The endpoints that show what the wallet holds, as an option. */
export const RPC_OPTION = {
  rpc: 'JSON-RPC endpoints, separated by commas: check that the wallet can pay first',
} as const

/** Reads a list of endpoints. */
export const endpointsIn = (rpc: string | undefined): readonly string[] | undefined =>
  rpc?.split(',').map((endpoint) => addressOf(endpoint.trim(), '--rpc').href)

/** What a listing says of a block, as options. */
export const LISTING_OPTIONS = {
  name: 'display name of your wallet, up to 40 characters',
  framework: 'what you run on, up to 32 characters',
  message: 'shown with the block, up to 140 characters',
  link: 'link of the block (https)',
  painter: 'address that may repaint it (default: a key stored here)',
} as const

/** The picture of one block, as options. */
export const PICTURE_OPTIONS = {
  px: 'the picture: 200 hex digits, two for each pixel, a palette index',
  image: 'the picture: a PNG or JPEG file, scaled to 10 x 10 pixels per block',
} as const

/** Those of `names` that were given. */
export function given<Name extends string>(
  options: Call['options'],
  names: Readonly<Record<Name, string>>,
): Partial<Record<Name, string>> {
  const found: Partial<Record<Name, string>> = {}
  for (const name in names) {
    const value = options[name]
    if (value !== undefined) found[name] = value
  }
  return found
}

/** How a picture is brought to its blocks, as options. */
export const FITTING = {
  fit: 'cover, contain or fill',
  dither: 'none (logos) or floyd-steinberg (photographs)',
} as const

/** How a picture is to be fitted, as far as it is said. Whatever values these have, the wall says what is wrong with them. */
export const fittingIn = (options: Call['options']) => given(options, FITTING) as Pick<AreaOrder, 'fit' | 'dither'>

/** The bytes of a picture. */
export async function readPicture(file: string): Promise<Uint8Array> {
  const bytes = await readFile(file).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    throw new UsageError(code === 'ENOENT' ? `There is no file ${file}.` : `Cannot read the file ${file} (${code}).`)
  })
  if (imageType(bytes) === undefined)
    throw new UsageError(`The file ${file} is not a picture: it must be a PNG or JPEG.`)
  return bytes
}

/** The pixels that `--px` or `--image` name, if one does. */
export async function pixelsOption(options: Call['options'], wall: Wall): Promise<string | undefined> {
  const { px, image } = options
  if (image === undefined) return px
  if (px !== undefined) throw new UsageError('Give --px or --image, not both.')
  const { blocks } = await wall.pixels(await readPicture(image), fittingIn(options))
  return blocks[0]?.px
}
