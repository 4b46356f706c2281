/** Signatures of 65 bytes with a part of them changed. */

import { hexToBigInt, numberToHex, type Hex } from 'viem'

/** The order of secp256k1's group. */
export const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const WORD_DIGITS = 64

/** r, s and v of a signature. */
export function partsOf(signature: Hex): { r: bigint; s: bigint; v: number } {
  const digits = signature.slice(2)
  return {
    r: BigInt(`0x${digits.slice(0, WORD_DIGITS)}`),
    s: BigInt(`0x${digits.slice(WORD_DIGITS, 2 * WORD_DIGITS)}`),
    v: Number(hexToBigInt(`0x${digits.slice(2 * WORD_DIGITS)}`)),
  }
}

/** A signature from its parts, however wrong. */
export const joined = ({ r, s, v }: { r: bigint; s: bigint; v: number }): Hex =>
  `0x${[numberToHex(r, { size: 32 }), numberToHex(s, { size: 32 }), numberToHex(v, { size: 1 })].map((part) => part.slice(2)).join('')}`

/** The other signature of the same key over the same words. */
export function twinOf(signature: Hex): Hex {
  const { r, s, v } = partsOf(signature)
  return joined({ r, s: ORDER - s, v: v === 27 ? 28 : 27 })
}

/** The signature with another last byte. */
export const withParity = (signature: Hex, v: number): Hex => joined({ ...partsOf(signature), v })
