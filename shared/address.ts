/** Addresses as they are written. */

/** 0x and 40 hex digits, in any letter case. */
export const ADDRESS_PATTERN = '^0x[0-9a-fA-F]{40}$'

const addressPattern = new RegExp(ADDRESS_PATTERN)

export const isAddress = (text: string): text is `0x${string}` => addressPattern.test(text)
