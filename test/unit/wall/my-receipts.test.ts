import { expect, test } from 'bun:test'
import { isFailure } from '../../../server/domain/failure.ts'
import { createEmptyView } from '../../../server/domain/wall/wall-view.ts'
import { readOwnReceipts } from '../../../server/wall/my-receipts.ts'
import { openBlankWall } from '../../support/blank-wall.ts'
import { toHash, HEAD, NOW, createTestPayment, SILENT, createWalletAddress } from '../../support/samples.ts'

test('a credit is shown as owed in its payer’s receipts until the operator records its refund', async () => {
  const { ledgerReader, payouts } = await openBlankWall()
  const lost = { payment: createTestPayment(1, 1), target: 'next', listing: SILENT, head: HEAD } as const
  await payouts.recordCredit(lost, toHash(7), NOW)
  const readReceipts = async () => {
    const found = await readOwnReceipts(
      { view: createEmptyView(), ledgerReader, baseUrl: 'http://wall' },
      createWalletAddress(1),
      undefined,
    )
    return isFailure(found) ? found : found.createAnswer('repeated')
  }
  const purchase = { state: 'credited', tx: toHash(7), receipt: null }
  expect(await readReceipts()).toMatchObject({
    purchases: [{ ...purchase, credit: { amount: String(lost.payment.amount), tx: toHash(7) } }],
  })
  await payouts.recordReference(lost.payment, 'refund 0x1', NOW)
  expect(await readReceipts()).toMatchObject({ purchases: [{ ...purchase, credit: null }] })
})
