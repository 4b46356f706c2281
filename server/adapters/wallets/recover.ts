/**
 * Recovers the address that signed a digest. libsecp256k1 takes 52 us and viem 510 us; a whole repaint takes 400 us
 * with libsecp256k1. So libsecp256k1 is used if it loads on this machine and passes a self-test. Both libraries return
 * the same signers.
 */

import { bytesToHex, hashMessage, keccak256, recoverAddress } from 'viem/utils'
import { toLowerAddress, type Address, type Hash } from '../../domain/purchase/payment.ts'

/** The libraries, fastest first. */
export const LIBRARIES = ['native', 'viem'] as const

export type Library = (typeof LIBRARIES)[number]

/** Recovers signers from signatures of keys. */
export type Keys = {
  readonly library: Library
  /** The address whose key made a signature of 65 bytes, r, s and v (27, 28, 0 or 1); `undefined` if no key could. */
  recoverSigner(digest: Hash, signature: `0x${string}`): Promise<Address | undefined>
}

/** The fastest library that works here; `failed` is called for each one that does not. */
export async function loadFastestKeys(failed: (library: Library, why: string) => void = () => {}): Promise<Keys> {
  for (const library of LIBRARIES) {
    try {
      const keys = await loadKeys(library)
      if (await passesTest(keys)) return keys
      failed(library, 'it fails the self-test')
    } catch (error) {
      failed(library, error instanceof Error ? error.message : String(error))
    }
  }
  throw new Error('no library could recover the signer of the test signature')
}

/** The address whose key signed a text (EIP-191); `undefined` if no key could. */
export async function recoverTextSigner(text: string, signature: string): Promise<Address | undefined> {
  const keys = await loadKeys('viem')
  return await keys.recoverSigner(hashMessage(text), signature as `0x${string}`)
}

/** Recovery with one library. Rejects if the library does not load. */
export async function loadKeys(library: Library): Promise<Keys> {
  const recoverSignerAddress = library === 'viem' ? recoverWithViem : await loadNativeRecovery()
  return {
    library,
    async recoverSigner(digest, signature) {
      if (!keySignature.test(signature)) return undefined
      try {
        return await recoverSignerAddress(digest, signature)
      } catch {
        // The libraries throw for bytes that are not a signature.
        return undefined
      }
    },
  }
}

// r, s and v.
const keySignature = /^0x[0-9a-fA-F]{130}$/

const RS_BYTES = 64

type AddressBy = (hash: Hash, signature: `0x${string}`) => Address | undefined | Promise<Address>

const recoverWithViem: AddressBy = async (hash, signature) => toLowerAddress(await recoverAddress({ hash, signature }))

async function loadNativeRecovery(): Promise<AddressBy> {
  // The package's main file would fall back to slow JavaScript without the native part; this file throws instead.
  const { default: native } = await import('secp256k1/bindings.js')
  return (digest, signature) => {
    const bytes = decodeHex(signature)
    const bit = recoveryBits.get(bytes[RS_BYTES] ?? 0xff)
    if (bit === undefined) return undefined
    // The key has 65 bytes; its first byte says that both coordinates follow.
    const key = native.ecdsaRecover(bytes.subarray(0, RS_BYTES), bit, decodeHex(digest), false)
    return `0x${keccak256(key.subarray(1)).slice(-40)}`
  }
}

const recoveryBits: ReadonlyMap<number, 0 | 1> = new Map([
  [0, 0],
  [1, 1],
  [27, 0],
  [28, 1],
])

const decodeHex = (hex: string) => new Uint8Array(Buffer.from(hex.slice('0x'.length), 'hex'))

/**
 * Signatures by the keys 1 and 2, with both recovery bits, over a text with characters of two, three and four bytes in
 * UTF-8.
 */
const TEXT = 'ä€🎨'
const known: ReadonlyArray<readonly [signer: string, signature: `0x${string}`]> = [
  [
    '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf',
    '0xeb85299ee6ca32331c0a1293a72b5c12a7c814c952376c4da83baa8f673023c415241c30350d7fee7d1ece15b28414119d44990a68600166bd194df310fd67b41c',
  ],
  [
    '0x2b5ad5c4795c026514f8317c7a215e218dccd6cf',
    '0xa4f1be0265f3a98606caea5465a4d54aa08a018642248ede1f10286e811f4fb0381ebe649a0df58be9ae500bc248043a77c6b149ba5c952d8b43e49dc1f9965f1b',
  ],
]

/**
 * Whether a library recovers the known signers from the digest that they signed, but not from another digest, and
 * recovers no signer from zero bytes.
 */
async function passesTest({ recoverSigner }: Keys): Promise<boolean> {
  const digest = hashMessage(TEXT)
  for (const [signer, signature] of known) {
    if ((await recoverSigner(digest, signature)) !== signer) return false
    if ((await recoverSigner(keccak256(digest), signature)) === signer) return false
  }
  const nothing = bytesToHex(new Uint8Array(65))
  return (await recoverSigner(digest, nothing)) === undefined
}
