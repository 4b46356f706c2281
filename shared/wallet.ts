/** Addresses of wallets: how they are written, and how they are shown to others. */

import { getAddress } from 'viem/utils'

/** The checksummed address in full; the wall shows a buyer's address in this form only to that buyer. */
export const formatWallet = (address: string): string => getAddress(address)

/** First six characters, an ellipsis and the last four of the checksummed address: `0x1234…abcd`. */
export function truncateWallet(address: string): string {
  const full = formatWallet(address)
  return `${full.slice(0, 6)}…${full.slice(-4)}`
}

/** 0x and 40 hex digits, in any letter case. */
export const ADDRESS_PATTERN = '^0x[0-9a-fA-F]{40}$'

const addressPattern = new RegExp(ADDRESS_PATTERN)

/**
 * Parses addresses separated by blanks, commas or line breaks; `#` begins a comment. Returns them in lower case, or the
 * number of the line with an error.
 */
export function parseAddresses(text: string): ReadonlySet<`0x${string}`> | number {
  const addresses = new Set<`0x${string}`>()
  for (const [nth, line] of text.split('\n').entries())
    for (const word of line.replace(/#.*/, '').split(/[\s,]+/)) {
      if (word !== '' && !hasValidChecksum(word)) return nth + 1
      if (word !== '') addresses.add(word.toLowerCase() as `0x${string}`)
    }
  return addresses
}

/** Whether `text` is an address, with the right checksum if it is in mixed case. The checksum reveals typing errors. */
const hasValidChecksum = (text: string): boolean =>
  isAddress(text) && (/^0x(?:[^A-F]*|[^a-f]*)$/.test(text) || getAddress(text) === text)

export const isAddress = (text: string): text is `0x${string}` => addressPattern.test(text)
