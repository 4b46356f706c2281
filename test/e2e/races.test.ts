import { describe, expect, test } from 'bun:test'
import { decodePaymentResponseHeader } from '@x402/core/http'
import { get, sign } from '../support/e2e/buyer.ts'
import { shareWorld, type World } from '../support/e2e/world.ts'

let world: World

describe('a wall on a file', () => {
  shareWorld((opened) => void (world = opened), { SETTLE_TIMEOUT_MS: '20000', VERIFY_TIMEOUT_MS: '20000' })

  const wallets = (count: number) => Promise.all(Array.from({ length: count }, () => world.wallet()))

  test('of 20 payers at once on one block one buys it, and nobody else is charged', async () => {
    const payers = await wallets(20)
    const payments = await Promise.all(payers.map((payer) => sign(world, payer, '5,5')))
    const settlesBefore = world.facilitator.settle.count()
    const answers = await Promise.all(payments.map((payment) => get(world, '5,5', payment)))
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
    expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 409)])
    for (const answer of answers.filter(({ status }) => status === 409))
      expect(['block_taken', 'purchase_pending']).toContain(((await answer.json()) as { error: string }).error)
    expect(world.facilitator.settle.count() - settlesBefore).toBe(1)
    const left = await Promise.all(payers.map(world.dollarsOf))
    expect(left.filter((dollars) => dollars === 2)).toHaveLength(19)
  })

  test('one signed request ten times at once, and again after a restart, is one block, one charge and one receipt', async () => {
    const payer = await world.wallet(5)
    const payment = await sign(world, payer)
    const settlesBefore = world.facilitator.settle.count()
    const answers = await Promise.all(Array.from({ length: 10 }, () => get(world, 'next', payment)))
    await world.restart()
    answers.push(await get(world, 'next', payment))
    const bodies = await Promise.all(answers.map((answer) => answer.text()))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(bodies).size).toBe(1)
    const responses = answers.map(({ headers }) => decodePaymentResponseHeader(headers.get('payment-response') ?? ''))
    expect(new Set(responses.map(({ transaction }) => transaction)).size).toBe(1)
    expect(world.facilitator.settle.count() - settlesBefore).toBe(1)
    expect(await world.dollarsOf(payer)).toBe(4)
  })
})
