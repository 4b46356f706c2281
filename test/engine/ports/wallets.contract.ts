import { describe, expect, test } from 'bun:test'
import type { Address, Payment } from '../../../server/domain/purchase/payment.ts'
import type { Wallets } from '../../../server/ports.ts'

// Goal: every promise of the `Wallets` port for any kind of wallet. Method: two wallets sign texts and payments.

/** A wallet that can sign a text. */
export type Signer = { readonly address: Address; sign(message: string): Promise<`0x${string}`> }

/** The port under test, and wallets and payments to test it with. */
export type WalletsWorld = {
  readonly wallets: Wallets
  readonly owner: Signer
  readonly stranger: Signer
  /** A new payment that its payer signed. */
  createPayment(): Promise<Payment>
  /** A new payment that somebody else signed. */
  createForgedPayment(): Promise<Payment>
}

const FROM = '192.0.2.1'

/** Returns the digest that `signer` signed, or the reason why there is none. */
async function findSignedDigest(
  wallets: Wallets,
  signer: Address,
  texts: string[],
  signature: `0x${string}`,
  from: string,
) {
  const answer = await wallets.findSigner([signer], texts, signature, from)
  return typeof answer === 'string' ? answer : answer.digest
}

/** The suite of the `Wallets` port. */
export function testWallets(name: string, open: () => Promise<WalletsWorld>): void {
  describe(`wallets through ${name}`, () => {
    const texts = ['one', 'two\nlines', '']

    test('a signature of any allowed text is recognised, and each text has its own digest', async () => {
      const { wallets, owner } = await open()
      const digests = await Promise.all(
        texts.map(async (text) => findSignedDigest(wallets, owner.address, texts, await owner.sign(text), FROM)),
      )
      for (const digest of digests) expect(digest).toMatch(/^0x[0-9a-f]{64}$/)
      expect(new Set(digests).size).toBe(texts.length)
    })

    test('a text has the same digest in any list of texts', async () => {
      const { wallets, owner } = await open()
      const signature = await owner.sign('one')
      const alone = await findSignedDigest(wallets, owner.address, ['one'], signature, FROM)
      expect(alone).toBeDefined()
      expect(await findSignedDigest(wallets, owner.address, ['two', 'one'], signature, FROM)).toBe(alone)
    })

    test('a signature by another wallet, or of another text, counts as not signed', async () => {
      const { wallets, owner, stranger } = await open()
      expect(await findSignedDigest(wallets, owner.address, texts, await stranger.sign('one'), FROM)).toBe('not-signed')
      expect(await findSignedDigest(wallets, stranger.address, texts, await owner.sign('one'), FROM)).toBe('not-signed')
      expect(await findSignedDigest(wallets, owner.address, texts, await owner.sign('three'), FROM)).toBe('not-signed')
      expect(await findSignedDigest(wallets, owner.address, [], await owner.sign('one'), FROM)).toBe('not-signed')
    })

    test('if several wallets may sign, the result contains the wallet that signed', async () => {
      const { wallets, owner, stranger } = await open()
      const both = [owner.address, stranger.address]
      for (const signer of [owner, stranger]) {
        const answer = await wallets.findSigner(both, texts, await signer.sign('one'), FROM)
        expect(answer).toEqual({ by: signer.address, digest: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
      }
      expect(await wallets.findSigner([stranger.address], texts, await owner.sign('one'), FROM)).toBe('not-signed')
      expect(await wallets.findSigner([], texts, await owner.sign('one'), FROM)).toBe('not-signed')
    })

    test('bytes that are not a signature count as not signed', async () => {
      const { wallets, owner } = await open()
      for (const bytes of ['0x', '0x00', `0x${'00'.repeat(65)}`, `0x${'ab'.repeat(1000)}`] as const)
        expect(await findSignedDigest(wallets, owner.address, texts, bytes, FROM)).toBe('not-signed')
    })

    test('a payment is valid if its payer signed it, and invalid if another wallet did', async () => {
      const { wallets, createPayment, createForgedPayment: forged } = await open()
      const [good, bad] = [await createPayment(), await forged()]
      expect(await wallets.checkPaymentSignature(good)).toBe('signed')
      expect(await wallets.checkTokenSignature(good)).toBe('signed')
      expect(await wallets.checkPaymentSignature(bad)).toBe('not-signed')
      expect(await wallets.checkTokenSignature(bad)).toBe('not-signed')
    })
  })
}
