/**
 * The exact texts that a wallet signs (EIP-191 personal_sign) to repaint a block or an area, or to set the wallet's
 * name or painter. Lines are joined by a line feed. An absent field and a cleared one differ only in their `_present`
 * line.
 */

import { hashMessage, sha256 } from 'viem/utils'

/** `null` clears a field, `undefined` keeps it. */
export type Field = string | null | undefined

/** An owner's change of a block. */
export type EditFields = { readonly pixels?: Field; readonly message?: Field; readonly link?: Field }

/** The name and framework that a wallet sets for itself. */
export type IdentityFields = { readonly name?: Field; readonly framework?: Field }

/** The two lines of a field: whether it is present, and its value, which may be empty. */
export const formatField = (name: string, value: Field): readonly [string, string] => [
  `${name}_present=${value === undefined ? 0 : 1}`,
  `${name}=${value ?? ''}`,
]

/**
 * The text for `PUT /blocks/{coord}`: `host` is the service's own host name, `coord` is as in the request, and `ts` is
 * in Unix milliseconds.
 */
export function formatEditMessage(host: string, coord: string, ts: number, fields: EditFields): string {
  return formatChange([host, 'set_pixels v2', `block=${coord}`], ts, fields)
}

/** The text for `PUT /areas/{area}`: pixels are signed by the SHA-256 of their bytes, in lower-case hex. */
export function formatAreaMessage(host: string, area: string, ts: number, fields: EditFields): string {
  return formatChange([host, 'set_area v1', `area=${area}`], ts, fields)
}

function formatChange(head: readonly string[], ts: number, fields: EditFields): string {
  return [
    ...head,
    `ts=${ts}`,
    ...formatField('pixels', fields.pixels),
    ...formatField('message', fields.message),
    ...formatField('link', fields.link),
  ].join('\n')
}

/** The text for `PUT /api/agents/me`: `wallet` in any letter case, `ts` in Unix milliseconds. */
export function formatRegisterMessage(host: string, wallet: string, ts: number, fields: IdentityFields): string {
  return [
    host,
    'register v2',
    `wallet=${wallet.toLowerCase()}`,
    `ts=${ts}`,
    ...formatField('name', fields.name),
    ...formatField('framework', fields.framework),
  ].join('\n')
}

/**
 * The text for `PUT /api/agents/me/painter`: both addresses in any letter case, `null` for no painter, `ts` in Unix
 * milliseconds.
 */
export function formatPainterMessage(host: string, wallet: string, ts: number, painter: string | null): string {
  return [
    host,
    'set_painter v1',
    `wallet=${wallet.toLowerCase()}`,
    `ts=${ts}`,
    `painter=${(painter ?? '').toLowerCase()}`,
  ].join('\n')
}

/** The signed form of an area's pixels, given row by row: their SHA-256 in lower-case hex, without a prefix. */
export const hashPixels = (rows: Uint8Array): string => sha256(rows).slice('0x'.length)

/**
 * The digest that a wallet's key signs for a message: keccak-256 of EIP-191's prefix, the message's length in bytes and
 * the message.
 */
export const computeMessageDigest = (message: string): `0x${string}` => hashMessage(message)
