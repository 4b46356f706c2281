/**
 * The x402 extension by which a client names a purchase, so that it can ask again with a new signature and not buy twice.
 * Not required. Written out as the SDK declares it, since loading the SDK's would hold up each start; a test compares them.
 */

const NAME = 'payment-identifier'

const PATTERN = '^[a-zA-Z0-9_-]+$'
const [LENGTH_MIN, LENGTH_MAX] = [16, 128]

/** What a demand declares. */
export const paymentIdentifier = {
  [NAME]: {
    info: { required: false },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        required: { type: 'boolean' },
        id: { type: 'string', minLength: LENGTH_MIN, maxLength: LENGTH_MAX, pattern: PATTERN },
      },
      required: ['required'],
    },
  },
}

/**
 * The identifier in the `extensions` of a payload; `none` where a client gives none, as one does that only echoes what was
 * declared, and `malformed` where it breaks the extension's rules.
 */
export function readIdentifier(extensions: unknown): { readonly id: string } | 'none' | 'malformed' {
  const declared = memberOf(extensions, NAME)
  if (declared === undefined) return 'none'
  const info = memberOf(declared, 'info')
  if (info === undefined) return 'malformed'
  const id = memberOf(info, 'id')
  if (id === undefined) return 'none'
  return typeof id === 'string' && isIdentifier(id) ? { id } : 'malformed'
}

const pattern = new RegExp(PATTERN)

const isIdentifier = (id: string) => id.length >= LENGTH_MIN && id.length <= LENGTH_MAX && pattern.test(id)

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? { ...value }[name] : undefined
