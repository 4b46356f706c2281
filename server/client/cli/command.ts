/** Types, options and helpers that the commands of `pixel-wall` share. */

import { readFile } from 'node:fs/promises'
import type { AreaOrder } from '../../../shared/contract/area-order.ts'
import { detectImageType } from '../picture.ts'
import type { Wall } from '../wall.ts'

/** Wrong usage of a command. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A command: its usage, and its action. */
export type Command = {
  readonly summary: string
  readonly usage: string // its arguments, as in `[next | col,row]`
  readonly options: Readonly<Record<string, string>> // name to description; each takes a value
  readonly argumentsMax: number
  readonly flags?: Readonly<Record<string, string>> // options without a value, name to description
  readonly failureStatus?: number // exit status of every failure, if the command has its own
  /** Runs the command; returns its exit status, or nothing, which means 0. */
  run(call: Call): Promise<number | void>
}

/** One call of a command. */
export type Call = {
  readonly args: readonly string[]
  readonly options: Readonly<Record<string, string | undefined>>
  readonly flags: ReadonlySet<string>
  readonly url: URL // of the wall
  /** The wall, without a key: for free reads. */
  readonly openForReading: () => Wall
  /** The wall, with the caller's key, and `--max` as the spending limit. */
  readonly openAsOwner: () => Promise<Wall>
  /** The wall, with the locally stored painter's key; `undefined` before the first purchase. */
  readonly openAsPainter: () => Promise<Wall | undefined>
  /** Prints a line of progress, in addition to the result. */
  readonly printProgress: (line: string) => void
  /** Prints the result: as JSON if requested, otherwise as lines for people, below a drawing if there is one. */
  readonly print: (result: object, lines: readonly string[], drawing?: string) => void
}

/** Parses an http or https URL. `what` names the argument or option in the error. */
export function parseHttpUrl(text: string, what = '--url'): URL {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) throw new UsageError(`${what} must be an http or https URL.`)
  return new URL(text)
}

/** The spending limit, as an option. */
export const MAX_OPTION = { max: 'maximum to spend in total, in dollars (default: 1.00)' } as const
export const MAX_DOLLARS = '1.00'

/** The endpoints that report the wallet's balance, as an option. */
export const RPC_OPTION = {
  rpc: 'JSON-RPC endpoints, separated by commas, for checking before each payment that the wallet can pay',
} as const

/** Reads a list of endpoints. */
export const parseEndpoints = (rpc: string | undefined): readonly string[] | undefined =>
  rpc?.split(',').map((endpoint) => parseHttpUrl(endpoint.trim(), '--rpc').href)

/** The fields of a block's listing, as options. */
export const LISTING_OPTIONS = {
  name: 'display name of your wallet, up to 40 characters',
  framework: 'agent framework that you run on, up to 32 characters',
  message: 'text shown with the block, up to 140 characters',
  link: 'link of the block (https)',
  painter: 'address that may repaint what you buy (default: that of a key stored on this machine)',
} as const

/** The picture of one block, as options. */
export const PICTURE_OPTIONS = {
  px: 'the picture: 200 hex digits, two for the palette index of each pixel',
  image: 'the picture: a PNG or JPEG file, scaled to 10 x 10 pixels per block',
} as const

/** The options among `names` that were given. */
export function pickGiven<Name extends string>(
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

/** How to convert a picture to blocks, as options. */
export const FITTING = {
  fit: 'cover, contain or fill',
  dither: 'none (logos) or floyd-steinberg (photographs)',
} as const

/** The given options for fitting a picture. The wall checks their values. */
export const pickFitting = (options: Call['options']) =>
  pickGiven(options, FITTING) as Pick<AreaOrder, 'fit' | 'dither'>

/** The bytes of a picture file. Throws a `UsageError` if it is not a PNG or JPEG. */
export async function readPicture(file: string): Promise<Uint8Array> {
  const bytes = await readFile(file).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    throw new UsageError(code === 'ENOENT' ? `There is no file ${file}.` : `Cannot read the file ${file} (${code}).`)
  })
  if (detectImageType(bytes) === undefined)
    throw new UsageError(`The file ${file} is not a picture: it must be a PNG or JPEG.`)
  return bytes
}

/** The pixels in `--px` or `--image`, if one is given. */
export async function readPixelsOption(options: Call['options'], wall: Wall): Promise<string | undefined> {
  const { px, image } = options
  if (image === undefined) return px
  if (px !== undefined) throw new UsageError('Give --px or --image, not both.')
  const { blocks } = await wall.pixels(await readPicture(image), pickFitting(options))
  return blocks[0]?.px
}
