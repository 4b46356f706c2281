import { expect, test } from 'bun:test'
import { decodePaymentResponseHeader, encodePaymentResponseHeader } from '@x402/core/http'
import type { SoldPurchase } from '../../../server/domain/purchase/purchase.ts'
import { encodeHeader, createSettleResponse } from '../../../server/x402/receipt.ts'
import { parseBlockOrThrow, HEAD, toHash, NOW, createTestPayment, SILENT } from '../../support/samples.ts'

const SALE: SoldPurchase = {
  payment: createTestPayment(1, 1, { payer: '0xd8da6bf26964af9d7eed9e03e53415d37aa96045' }),
  target: 'next',
  block: parseBlockOrThrow('80,45'),
  listing: SILENT,
  head: HEAD,
  state: { kind: 'sold', tx: toHash(7), claimedAt: NOW, name: null, framework: null, settled: true, unanswered: false },
}

test('the SDK reads the payer, amount, network and transaction from PAYMENT-RESPONSE', () => {
  expect(decodePaymentResponseHeader(encodeHeader(createSettleResponse(SALE)))).toEqual({
    success: true,
    payer: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
    transaction: toHash(7),
    network: 'eip155:8453',
    amount: '1000000',
  })
})

test('a header is encoded as the SDK encodes it', () => {
  expect(encodeHeader(createSettleResponse(SALE))).toBe(encodePaymentResponseHeader(createSettleResponse(SALE)))
})

test('text beyond ASCII is encoded as UTF-8 in a header', () => {
  const value = { message: 'é 😀' }
  const header = encodeHeader(value)
  expect(header).toMatch(/^[A-Za-z0-9+/]+={0,2}$/)
  expect(Buffer.from(header, 'base64').toString()).toBe(JSON.stringify(value))
})
