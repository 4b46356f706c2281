import { expect, test } from 'bun:test'
import { findOrphans } from '../../../server/books/find-orphan-payments.ts'
import type { Address } from '../../../server/domain/purchase/payment.ts'
import { openBlankWall } from '../../support/blank-wall.ts'
import { createFakeChain } from '../../support/fakes/chain.ts'
import { HEAD, createTestPayment, TERMS, createWalletAddress } from '../../support/samples.ts'

test('if one address is searched further than another, every unknown payment is still found exactly once', async () => {
  const [near, far] = [createWalletAddress(8), createWalletAddress(9)]
  const [chain, { checkpoint }] = [createFakeChain(), await openBlankWall()]
  for (const [nonce, to] of [near, far, near, far].entries()) chain.transferPayment(createTestPayment(1, nonce, { to }))
  // Reads two blocks at a time for `far`, and all blocks for `near`.
  const readTransfers = async (payTo: Address, from: bigint) => {
    const all = await chain.readTransfers(payTo, from)
    if (all === 'silent' || payTo === near || all.next <= from + 2n) return all
    const transfers = all.transfers.filter(({ height }) => height < from + 2n)
    return { transfers, next: from + 2n, isAll: false }
  }
  const heights: bigint[] = []
  for (let from = HEAD + 1n, isAll = false; !isAll;) {
    const window = await findOrphans(
      { chain: { ...chain, readTransfers }, checkpoint, terms: TERMS },
      [near, far],
      from,
    )
    if (window === 'silent') throw new Error('the chain is silent')
    heights.push(...window.orphans.map(({ height }) => height))
    from = window.next
    isAll = window.isAll
  }
  expect(heights).toHaveLength(4)
  expect(new Set(heights)).toEqual(new Set([1n, 2n, 3n, 4n].map((block) => HEAD + block)))
})
