import { describe, expect, test } from 'bun:test'
import type { Hash, Payment } from '../../../server/domain/purchase/payment.ts'
import type { Facilitator } from '../../../server/ports.ts'
import { parseBlockOrThrow } from '../../support/samples.ts'

// Goal: every promise of the `Facilitator` port, as its callers rely on it. Method: each test pays in a fresh world,
// and checks independently of the port where the money is.

/** A facilitator, and payers to test it with. */
export type FacilitatorWorld = {
  readonly facilitator: Facilitator
  /** A facilitator at whose address no server listens. */
  readonly unreachable: Facilitator
  /** A new payment by a payer who holds the money. */
  createPayment(): Promise<Payment>
  /** A new payment by a payer who holds nothing. */
  createUnaffordablePayment(): Promise<Payment>
  /** The transaction that moved a payment's money, if one did. */
  findTransaction(payment: Payment): Promise<Hash | undefined>
}

const BLOCK = parseBlockOrThrow('3,4')

/** The suite of the `Facilitator` port. */
export function testFacilitator(name: string, open: () => Promise<FacilitatorWorld>): void {
  describe(`facilitator through ${name}`, () => {
    test('a signed and funded payment is verified as valid, and the verification moves no money', async () => {
      const { facilitator, createPayment, findTransaction: landed } = await open()
      const good = await createPayment()
      expect(await facilitator.verify(BLOCK, good)).toMatchObject({ kind: 'valid' })
      expect(await facilitator.verify('next', good)).toMatchObject({ kind: 'valid' })
      expect(await landed(good)).toBeUndefined()
    })

    test('settling a payment moves its money and returns the transaction', async () => {
      const { facilitator, createPayment, findTransaction: landed } = await open()
      const good = await createPayment()
      const settling = await facilitator.settle(BLOCK, good)
      expect(settling.kind).toBe('success')
      expect(await landed(good)).toBe(settling.kind === 'success' ? settling.tx : undefined)
    })

    test('a payment that is sent without optional fields is accepted like one with all of them', async () => {
      const { facilitator, createPayment, findTransaction: landed } = await open()
      const good = await createPayment()
      const bare = { withinMs: 5000, isBare: true }
      expect(await facilitator.verify(BLOCK, good, bare)).toMatchObject({ kind: 'valid' })
      expect(await facilitator.settle(BLOCK, good, bare)).toMatchObject({ kind: 'success' })
      expect(await landed(good)).toBeDefined()
    })

    test('settling a payment again moves no more money, and never returns a different transaction', async () => {
      const { facilitator, createPayment, findTransaction: landed } = await open()
      const good = await createPayment()
      const first = await facilitator.settle('next', good)
      const tx = await landed(good)
      const second = await facilitator.settle('next', good)
      expect([first.kind, 'refused', 'unclear']).toContain(second.kind)
      if (second.kind === 'success') expect(second.tx).toBe(tx ?? '0x')
      expect(await landed(good)).toBe(tx)
    })

    test('a payment that its payer cannot afford is rejected with a reason, and no money moves', async () => {
      const { facilitator, createUnaffordablePayment: unaffordable, findTransaction: landed } = await open()
      const poor = await unaffordable()
      const reason = 'invalid_exact_evm_insufficient_balance'
      expect(await facilitator.verify(BLOCK, poor)).toMatchObject({ kind: 'invalid', reason })
      expect(await facilitator.settle(BLOCK, poor)).toMatchObject({ kind: 'refused', reason })
      expect(await landed(poor)).toBeUndefined()
    })

    test('a facilitator that cannot be reached counts as unavailable, and a payment to settle counts as not sent', async () => {
      const { unreachable, createPayment } = await open()
      const good = await createPayment()
      expect(await unreachable.verify(BLOCK, good)).toEqual({ kind: 'unavailable' })
      expect(await unreachable.settle(BLOCK, good)).toEqual({ kind: 'unsent' })
      expect(await unreachable.checkSupport()).toBe('unavailable')
    })

    test('a facilitator supports our version, scheme and network', async () => {
      const { facilitator } = await open()
      expect(await facilitator.checkSupport()).toBe('yes')
    })
  })
}
