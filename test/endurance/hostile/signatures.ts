/** Signatures in bodies, right ones and the many wrong ones. */

import {
  concat,
  encodeAbiParameters,
  hashMessage,
  keccak256,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
  toHex,
  type Hex,
} from 'viem'
import type { Wallet } from '../../../server/local/wallets.ts'
import { editMessage, registerMessage, type Field } from '../../../shared/signing.ts'
import { joined, ORDER, partsOf, twinOf, withParity } from './twisted-signatures.ts'

/** What is said in a body, and where. */
export type Said = {
  readonly kind: 'edit' | 'register'
  readonly hostname: string
  readonly host: string
  readonly coord: string
  readonly fields: Readonly<Record<string, unknown>>
}

const fieldOf = (value: unknown): Field =>
  value === undefined || value === null || typeof value === 'string' ? value : JSON.stringify(value)

/** The canonical message of a body, with parts of it replaced. */
function messageOf({ kind, hostname, coord, fields }: Said): string {
  const ts = Number(fields['ts'])
  const of = (name: string) => fieldOf(fields[name])
  if (kind === 'edit')
    return editMessage(hostname, coord, ts, { pixels: of('pixels'), message: of('message'), link: of('link') })
  return registerMessage(hostname, String(fields['wallet']), ts, { name: of('name'), framework: of('framework') })
}

/** Signatures of something else than the message. */
const otherWords: Readonly<Record<string, (said: Said) => string>> = {
  'other-host': (said) => messageOf({ ...said, hostname: 'other.example' }),
  'host-with-port': (said) => messageOf({ ...said, hostname: said.host }),
  'with-port': (said) => messageOf({ ...said, hostname: said.host }),
  'host:port': (said) => messageOf({ ...said, hostname: said.host }),
  'upper-host': (said) => messageOf({ ...said, hostname: `${said.hostname.toUpperCase()}.` }),
  'other-block': (said) => messageOf({ ...said, coord: '0,0' }),
  'other-coord': (said) => messageOf({ ...said, coord: '0,0' }),
  'other-ts': (said) => messageOf({ ...said, fields: { ...said.fields, ts: Number(said.fields['ts']) + 1 } }),
  'other-message': (said) => messageOf({ ...said, fields: { ...said.fields, message: 'something else' } }),
  'register v2': (said) => registerMessage(said.hostname, said.coord, Number(said.fields['ts']), { name: 'x' }),
  'set_pixels v2': (said) => editMessage(said.hostname, '0,0', Number(said.fields['ts']), { message: 'x' }),
  'set_pixels v1': (said) => messageOf(said).replace('set_pixels v2', 'set_pixels v1'),
  v1: (said) => messageOf(said).replace(' v2\n', ' v1\n'),
  CRLF: (said) => messageOf(said).replaceAll('\n', '\r\n'),
  'trailing-lf': (said) => `${messageOf(said)}\n`,
  'trailing-newline': (said) => `${messageOf(said)}\n`,
  'no-present-lines': (said) => messageOf(said).replaceAll(/^\w+_present=.*\n/gm, ''),
}

const domain = { name: 'Pixel Wall', version: '1', chainId: 8453 } as const
const typedWords = { Words: [{ name: 'text', type: 'string' }] } as const

/** Signatures made in another way than EIP-191's. */
const otherWays: Readonly<Record<string, (wallet: Wallet, message: string) => Promise<Hex>>> = {
  'typed-data': (wallet, text) =>
    wallet.signTypedData({ domain, types: typedWords, primaryType: 'Words', message: { text } }),
  'raw-hash': (wallet, message) => wallet.sign({ hash: keccak256(toHex(message)) }),
  eth_sign: (wallet, message) => wallet.sign({ hash: keccak256(toHex(message)) }),
  'double-hash': (wallet, message) => wallet.signMessage({ message: { raw: hashMessage(message) } }),
}

const MAGIC_6492: Hex = `0x${'6492'.repeat(16)}`

/** Signatures that were right before their bytes were changed. */
const twists: Readonly<Record<string, (signature: Hex) => Hex>> = {
  'high-s': twinOf,
  v01: (signature) => withParity(signature, parseSignature(signature).yParity),
  compact: (signature) => serializeCompactSignature(signatureToCompactSignature(parseSignature(signature))),
  'EIP-2098': (signature) => serializeCompactSignature(signatureToCompactSignature(parseSignature(signature))),
  eip2098: (signature) => serializeCompactSignature(signatureToCompactSignature(parseSignature(signature))),
  '2098': (signature) => serializeCompactSignature(signatureToCompactSignature(parseSignature(signature))),
  '66bytes': (signature) => `${signature}00`,
  '64bytes': (signature) => `0x${signature.slice(2, -2)}`,
  'odd-nibble': (signature) => `0x${signature.slice(2, -1)}`,
  'upper-hex': (signature) => `0x${signature.slice(2).toUpperCase()}`,
  upper: (signature) => `0x${signature.slice(2).toUpperCase()}`,
  ff65: () => `0x${'ff'.repeat(65)}`,
  zero65: () => `0x${'00'.repeat(65)}`,
  '00x65': () => `0x${'00'.repeat(65)}`,
  empty: () => '0x',
  r0: (signature) => joined({ ...partsOf(signature), r: 0n }),
  s0: (signature) => joined({ ...partsOf(signature), s: 0n }),
  'r-ge-n': (signature) => joined({ ...partsOf(signature), r: ORDER }),
  's-ge-n': (signature) => joined({ ...partsOf(signature), s: ORDER }),
  '6492-of-eoa': (signature) =>
    concat([
      encodeAbiParameters(
        [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
        [`0x${'00'.repeat(20)}`, '0x', signature],
      ),
      MAGIC_6492,
    ]),
}

/** Signs `said` in the way `variant` names; throws for one that is not known. */
export async function signedBody(wallet: Wallet, variant: string | undefined, said: Said): Promise<string> {
  const message = messageOf(said)
  if (variant === undefined) return await wallet.signMessage({ message })
  const words = otherWords[variant]
  if (words !== undefined) return await wallet.signMessage({ message: words(said) })
  const way = otherWays[variant]
  if (way !== undefined) return await way(wallet, message)
  const signature = await wallet.signMessage({ message })
  const parity = /^v(\d\d+)$/.exec(variant)?.[1]
  const twist = twists[variant] ?? (parity === undefined ? undefined : () => withParity(signature, Number(parity)))
  if (twist === undefined) throw new Error(`an unknown signature: ${variant}`)
  return twist(signature)
}

/** Code of contract wallets, by how they answer when asked about a signature (EIP-1271). */
export const walletCodes: Readonly<Record<string, Hex>> = {
  // revert(0, 0)
  '1271-reverts': '0x5f5ffd',
  // for ever: a jump to itself
  '1271-burns-gas': '0x5b5f56',
  // answers its magic word to everything
  '1271-ok': '0x631626ba7e60e01b5f5260205ff3',
  '1271-accepts': '0x631626ba7e60e01b5f5260205ff3',
  // answers a word that is not the magic one
  '1271-wrong-magic': '0x63deadbeef60e01b5f5260205ff3',
  '1271-refuses': '0x63ffffffff60e01b5f5260205ff3',
  '1271-rejects': '0x63ffffffff60e01b5f5260205ff3',
  // answers nothing
  '1271-empty': '0x00',
}

/** A signature that no key made, for contracts to judge. */
export const FOREIGN_SIGNATURE: Hex = `0x${'ab'.repeat(65)}`
