/** Every tool, in the order of tools/list: those of the contract, then helpers. */

import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import type { TObject, TSchema } from '@sinclair/typebox'
import { formatAmount } from '../../shared/money.ts'
import { toOfferRequirements, type Offer } from '../x402/terms.ts'
import { SHOWN_IN_CHAT } from './chat-view.ts'
import { PRICE_OF_BLOCK, type Tool } from './tool.ts'
import { buyArea, buyBlock, previewBlock } from './tools/buy.ts'
import { imageToPixels } from './tools/image-to-pixels.ts'
import { findSpace, getBlock, getFoundingMachines, getWall, getWallImage, listUnclaimed, myWall } from './tools/look.ts'
import { setArea, setIdentity, setPainter, setPixels, signingMessage } from './tools/repaint.ts'

export const TOOLS: readonly Tool[] = [
  getWall,
  getBlock,
  listUnclaimed,
  getFoundingMachines,
  setPixels,
  buyBlock,
  buyArea,
  previewBlock,
  findSpace,
  imageToPixels,
  getWallImage,
  signingMessage,
  setArea,
  setPainter,
  setIdentity,
  myWall,
]

/** The tool with this name; `undefined` if there is none. */
export const findTool = (name: string): Tool | undefined => TOOLS.find((tool) => tool.name === name)

/** The price of a block, such as `1.00 USDC`. */
export const formatPrice = ({ terms }: Offer): string => formatAmount(terms.amount)

/** The result of tools/list, for an offer. */
export const listTools = (offer: Offer): Array<(typeof PRICELESS)[number]['listed']> =>
  PRICELESS.map(({ listed, sells }) => {
    const meta = { ...listed._meta, ...(sells === undefined ? {} : { x402: describePayment(sells, offer) }) }
    const description = listed.description.replaceAll(PRICE_OF_BLOCK, formatPrice(offer))
    return { ...listed, description, ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }) }
  })

/**
 * The price of a tool, at the place in tools/list where x402 clients look for it: the terms of one block.
 * `paymentRequired` makes mcpc sign these terms before it calls, so it is set only if no argument changes the price.
 */
const describePayment = (sells: NonNullable<Tool['sells']>, offer: Offer): Readonly<Record<string, unknown>> => ({
  ...(sells === 'a block' ? { paymentRequired: true } : {}),
  accepts: [toOfferRequirements(offer)],
})

type Schema = Readonly<Record<string, unknown>>

// These schema keys are omitted, because every agent pays for each word of the list. Descriptions contain the
// information, and arguments are validated when they arrive.
const IN_WORDS: ReadonlySet<string> = new Set(['examples', 'format', 'contentEncoding', 'minLength'])

/** The tools as tools/list returns them, but without prices: plain JSON schemas, without TypeBox's own fields. */
const PRICELESS = TOOLS.map(({ name, title, description, annotations, input, output, isShown, sells }) => ({
  sells,
  listed: {
    name,
    title,
    description,
    inputSchema: makeDefaultedOptional(shortenSchema(input)),
    ...(output === undefined ? {} : { outputSchema: createOutline(output) }),
    annotations,
    ...(isShown ? { _meta: SHOWN_IN_CHAT as Readonly<Record<string, unknown>> } : {}),
  },
}))

/** Reduces a schema to the parts that a caller needs to fill in arguments. */
function shortenSchema(input: object): ObjectSchema {
  const brief = JSON.stringify(input, (key, value: unknown) => (IN_WORDS.has(key) ? undefined : shortenUnion(value)))
  return JSON.parse(brief)
}

/** Shortens a union to a list of its values, or of its types without their descriptions. */
function shortenUnion(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('anyOf' in value)) return value
  const { anyOf, ...rest } = value as { readonly anyOf: readonly Schema[] }
  if (anyOf.every((one) => 'const' in one)) return { ...rest, type: 'string', enum: anyOf.map((one) => one['const']) }
  return { ...rest, anyOf: anyOf.map((one) => ({ ...one, description: undefined })) }
}

/** The fields of a result and their types, without nested ones. No field is required, so that an error also matches. */
function createOutline({ properties }: TObject): ObjectSchema {
  const types = Object.entries(properties).map(([name, { type }]: [string, TSchema]) => [name, { type }])
  return JSON.parse(JSON.stringify({ type: 'object', properties: Object.fromEntries(types) }))
}

/**
 * Marks arguments that have a default as optional: clients omit them, but some refuse to do so if the schema requires
 * them.
 */
function makeDefaultedOptional({ required, properties, ...rest }: ObjectSchema): ObjectSchema {
  const withDefault = new Set(
    Object.entries(properties ?? {}).flatMap(([name, schema]) =>
      Object.hasOwn(Object(schema), 'default') ? [name] : [],
    ),
  )
  const needed = (required ?? []).filter((name) => !withDefault.has(name))
  return { ...rest, properties: properties ?? {}, ...(needed.length === 0 ? {} : { required: needed }) }
}

type ObjectSchema = ListedTool['inputSchema']
