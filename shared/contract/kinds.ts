/** TypeBox kinds for rules beyond JSON Schema: printable text, links and palette bytes. */

import {
  FormatRegistry,
  Kind,
  Type,
  TypeRegistry,
  type SchemaOptions,
  type TInteger,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TString,
  type TUnsafe,
} from '@sinclair/typebox'
import { USUAL_PRICE } from '../money.ts'
import { isPixelsHex, parsePixels, PIXELS_HEX_LENGTH } from '../pixels.ts'
import { LINK_MAX, isLink, isPrintable, MARKS_MAX } from '../text.ts'
import { COORD_PATTERN } from '../wall.ts'
import { ADDRESS_PATTERN } from '../wallet.ts'

type TextOptions = SchemaOptions & { readonly maxLength: number }

TypeRegistry.Set<TextOptions>(
  'Printable',
  (schema, value) => typeof value === 'string' && isPrintable(value, schema.maxLength),
)
FormatRegistry.Set('uri', (text) => URL.canParse(text))
TypeRegistry.Set('Link', (_, value) => typeof value === 'string' && isLink(value))
TypeRegistry.Set('PixelsHex', (_, value) => typeof value === 'string' && isPixelsHex(value))

/** 1 to `maxLength` printable characters, counted in code points as in JSON Schema. */
export const Printable = (maxLength: number, description: string, example: string): TUnsafe<string> =>
  Type.Unsafe<string>({
    [Kind]: 'Printable',
    type: 'string',
    minLength: 1,
    maxLength,
    description,
    examples: [example],
  })

/** An `https://` URI that an owner's block may link to. */
export const Link: TUnsafe<string> = Type.Unsafe<string>({
  [Kind]: 'Link',
  type: 'string',
  format: 'uri',
  pattern: '^https://',
  maxLength: LINK_MAX,
  description: `Link of the block: an ASCII https URI of at most ${LINK_MAX} characters, with a host and without user information. Never fetched.`,
  examples: ['https://example.org/'],
})

/** 200 hex characters, each pair a palette index. */
export const PixelsHex: TUnsafe<string> = Type.Unsafe<string>({
  [Kind]: 'PixelsHex',
  type: 'string',
  pattern: `^[0-9a-fA-F]{${PIXELS_HEX_LENGTH}}$`,
  description: 'The picture: 100 pixels row by row, each a palette index in two hex digits, from 00 to ef.',
  examples: ['b4'.repeat(PIXELS_HEX_LENGTH / 2)],
})

/** Describes why a value does not fit a schema, in words that follow the name of its field. */
export function describeFlaw(schema: TSchema, value: unknown): string {
  if (schema['type'] === 'string' && typeof value !== 'string') return ' must be a string'
  const pixels = schema[Kind] === 'PixelsHex' ? parsePixels(String(value)) : undefined
  return pixels !== undefined && 'problem' in pixels ? `: ${pixels.problem}` : ` ${describeRule(schema)}`
}

/** Describes the rule of a schema in words. */
export function describeRule({ [Kind]: kind, anyOf, minimum, maximum, maxLength, pattern }: TSchema): string {
  const [first, ...others]: readonly TSchema[] = anyOf?.filter(({ type }: TSchema) => type !== 'null') ?? []
  if (others.length > 0) return `must be one of ${anyOf.map((choice: TSchema) => choice['const']).join(', ')}`
  if (first !== undefined) return describeRule(first)
  if (kind === 'Integer')
    return `must be an integer from ${minimum}${maximum === undefined ? ' up' : ` to ${maximum}`}, in plain decimal digits`
  if (kind === 'Printable')
    return `must be 1 to ${maxLength} printable characters, with no control or invisible characters and at most ${MARKS_MAX} combining marks per character`
  if (kind === 'Link')
    return `must be an ASCII https:// URI of at most ${LINK_MAX} characters, with a host and without user information`
  return pattern === ADDRESS_PATTERN ? 'must be 0x followed by 40 hex digits' : `must match ${pattern}`
}

/** An object that allows no other members. */
export const Closed = <Properties extends TProperties>(properties: Properties): TObject<Properties> =>
  Type.Object(properties, { additionalProperties: false })

/** Text, or `null` for none. */
export const Nullable = <T extends TUnsafe<string> | ReturnType<typeof Type.String>>(
  schema: T,
  options?: SchemaOptions,
) => Type.Union([schema, Type.Null()], options)

/** Optional text, checked by the code that reads it and not by the schema. */
export const OptionalText = (description: string): TOptional<TString> => Type.Optional(Type.String({ description }))

/** Text, or `null` if nobody set it. */
export const TextOrNull = Nullable(Type.String())

export const CoordText = Type.String({
  pattern: COORD_PATTERN,
  description: 'Column and row of a block: `col,row`.',
  examples: ['80,45'],
})

export const Money = Type.String({
  pattern: '^\\d+\\.\\d{2,6}$',
  description: 'Amount in dollars, with at least two decimals.',
  examples: [USUAL_PRICE],
})

/** A whole number from 0 up to the largest safe integer. */
export const Count = (options: SchemaOptions): TInteger =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, ...options })

export const UnixMs = Type.Integer({ minimum: 0, description: 'Unix time in milliseconds.' })

export const PixelsBase64 = Type.String({
  contentEncoding: 'base64',
  description: 'The picture: 100 palette indices row by row, in base64.',
})

export const TxHash = Type.String({ pattern: '^0x[0-9a-f]{64}$', description: 'Hash of the settling transaction.' })
