import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Hex } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { hashMessage } from 'viem/utils'
import { loadFastestKeys, loadKeys, LIBRARIES, type Library } from '../../../server/adapters/wallets/recover.ts'

// Goal: the native library recovers the same signers as viem. Method: both recover 2,000 signatures, a quarter of them
// valid and the others changed in ways that once made libraries differ.

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const CASES = 2000

const encodeWord = (value: bigint) => value.toString(16).padStart(64, '0')

type Parts = { readonly r: bigint; readonly s: bigint; readonly v: number }

const encodeSignature = ({ r, s, v }: Parts): Hex =>
  `0x${encodeWord(r)}${encodeWord(s)}${v.toString(16).padStart(2, '0')}`

/** Every variant of a signature; the first one is the unchanged signature. */
const twists: ReadonlyArray<(parts: Parts, some: bigint) => Hex> = [
  encodeSignature,
  ({ r, s, v }) => encodeSignature({ r, s, v: v - 27 }),
  ({ r, s, v }) => encodeSignature({ r, s: ORDER - s, v: 55 - v }),
  ({ r, s, v }) => encodeSignature({ r, s: ORDER - s, v }),
  ({ r, s, v }) => encodeSignature({ r, s, v: 55 - v }),
  ({ r, s }, some) => encodeSignature({ r, s, v: Number(some % 256n) }),
  ({ s, v }) => encodeSignature({ r: 0n, s, v }),
  ({ r, v }) => encodeSignature({ r, s: 0n, v }),
  ({ s, v }, some) => encodeSignature({ r: ORDER + (some % 3n) - 1n, s, v }),
  ({ r, v }, some) => encodeSignature({ r, s: ORDER + (some % 3n) - 1n, v }),
  ({ s, v }, some) => encodeSignature({ r: some, s, v }),
  ({ r, v }, some) => encodeSignature({ r, s: some, v }),
  ({ v }) => encodeSignature({ r: 2n ** 256n - 1n, s: 2n ** 256n - 1n, v }),
  ({ s, v }, some) => encodeSignature({ r: some % 1000n, s, v }),
  ({ r, s }, some) => `0x${encodeWord(r)}${encodeWord(s | ((some % 2n) << 255n))}`,
  (parts) => `${encodeSignature(parts)}00`,
  (parts) => `${encodeSignature(parts)}0`,
  (parts) => encodeSignature(parts).slice(0, -1) as Hex,
  (parts) => `0x${encodeSignature(parts).slice(2).toUpperCase()}`,
  (parts) => `0x${encodeSignature(parts).slice(2, -2)}1g`,
  (parts) => `0X${encodeSignature(parts).slice(2)}` as Hex,
  () => '0x',
]

/** Signatures of known texts: every fourth one is valid, and the others have a random change. */
async function createCases() {
  const signers = fc.sample(fc.tuple(fc.bigInt(1n, ORDER - 1n), fc.string()), {
    numRuns: 64,
    seed: 5,
  })
  const signed = await Promise.all(
    signers.map(async ([key, text]) => {
      const privateKey: Hex = `0x${encodeWord(key)}`
      const digest = hashMessage(text)
      const { r, s, v = 27n } = await sign({ hash: digest, privateKey })
      const { address } = privateKeyToAccount(privateKey)
      return { text, digest, address: address.toLowerCase(), r: BigInt(r), s: BigInt(s), v: Number(v) }
    }),
  )
  const some = fc.sample(fc.bigInt(0n, 2n ** 256n - 1n), { numRuns: CASES, seed: 6 })
  return some.flatMap((chance, at) => {
    const parts = signed[at % signed.length]
    const twist = at % 4 === 0 ? encodeSignature : twists[Number(chance % BigInt(twists.length))]
    return parts === undefined || twist === undefined ? [] : [{ ...parts, signature: twist(parts, chance) }]
  })
}

const all = createCases()

/** The signer that a library recovers in each case. */
async function recoverWith(library: Library) {
  const { recoverSigner } = await loadKeys(library)
  return await Promise.all((await all).map(({ digest, signature }) => recoverSigner(digest, signature)))
}

const viems = recoverWith('viem')

test('the native library recovers the same signers as viem', async () => {
  const [signatures, expected, signers] = [await all, await viems, await recoverWith('native')]
  const others = signatures.filter((_, at) => signers[at] !== expected[at])
  expect(others.map(({ signature }) => signature)).toEqual([])
  const right = signatures.filter(({ address }, at) => signers[at] === address).length
  expect(right).toBeGreaterThan(CASES / 4)
  expect(right).toBeLessThan(CASES / 2)
})

test('every library recovers the signer of a text', async () => {
  const [first] = await all
  for (const library of LIBRARIES) {
    const { recoverSigner } = await loadKeys(library)
    expect(await recoverSigner(first?.digest ?? '0x', first?.signature ?? '0x')).toBe(first?.address as Hex)
  }
})

test('the fastest working library is selected, which is the native one on Linux x64', async () => {
  const failures: string[] = []
  const { library } = await loadFastestKeys((failed) => void failures.push(failed))
  expect([...failures, library]).toEqual(LIBRARIES.slice(0, failures.length + 1))
  if (process.platform === 'linux' && process.arch === 'x64') expect(library).toBe('native')
})
