import { describe, expect, test } from 'bun:test'
import { x402Client } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import type { Deed, Receipt } from '../../shared/contract/block.ts'
import type { SettleFault } from '../support/chain/faulty-facilitator.ts'
import { fetchBlock, sendUntilSettled, signBlockPayment, signDemand } from '../support/e2e/buyer.ts'
import { shareWorld, type World } from '../support/e2e/world.ts'
import { waitFor, sendWhile } from '../support/wait.ts'

// These tests cover each way in which a facilitator can fail at settlement. Afterwards the buyer resends the same
// signed request until there is an outcome: a block for a dollar. In between, no response may ask for another payment.

let world: World

describe('a wall on a file', () => {
  shareWorld((opened) => void (world = opened))

  const afterTheMoneyMoved: readonly SettleFault[] = [
    'hang-after',
    'error-json-after',
    'error-html-after',
    'failed-after',
    'lost-hash-after',
    'pending-after',
    'pending-500-after',
    'invented-hash-after',
    'reset-after',
    'garbage-after',
  ]
  const beforeTheMoneyMoved: readonly SettleFault[] = [
    'hang-before',
    'error-before',
    'invented-hash',
    'reset-before',
    'garbage',
  ]

  // The faults of a test run in parallel, because the wall checks the chain for some seconds before it reports an
  // uncertain outcome.
  test.each([
    ['after the money moved', afterTheMoneyMoved, [200, 503]],
    ['before the money moved', beforeTheMoneyMoved, [503]],
  ] as const)(
    'if the facilitator fails %s, no response asks for another payment, and a resend gets one block for one dollar',
    async (_, faults, statuses) => {
      world.facilitator.settle.queueFaults(...faults)
      await Promise.all(
        faults.map(async () => {
          const payer = await world.createFundedWallet(5)
          const payment = await signBlockPayment(world, payer)
          const first = await fetchBlock(world, 'next', payment)
          expect(statuses).toContain(first.status as never)
          expect(first.headers.has('payment-required')).toBe(false)
          if (first.status === 503) {
            expect(await first.json()).toMatchObject({ error: 'settlement_unknown' })
            expect(Number(first.headers.get('retry-after'))).toBeGreaterThan(0)
          }
          const last = await sendUntilSettled(world, 'next', payment)
          expect(last.status).toBe(200)
          const hash = ((await last.json()) as Receipt).deed.tx as `0x${string}`
          expect(await world.network.client.getTransactionReceipt({ hash })).toMatchObject({ status: 'success' })
          expect(await world.readBalance(payer)).toBe(4)
        }),
      )
    },
  )

  test('while a purchase is in doubt, an unpaid request for its block gets terms, and another payer is rejected and not charged', async () => {
    const [payer, other] = [await world.createFundedWallet(), await world.createFundedWallet()]
    const payment = await signBlockPayment(world, payer, '1,1')
    const others = await signBlockPayment(world, other, '1,1')
    world.facilitator.settle.setDefault('hang-before')
    expect((await fetchBlock(world, '1,1', payment)).status).toBe(503)
    const unpaid = await fetchBlock(world, '1,1')
    expect([unpaid.status, unpaid.headers.has('payment-required')]).toEqual([402, true])
    expect((await fetchBlock(world, '1,1', others)).status).toBe(409)
    expect(await world.readBalance(other)).toBe(2)
    world.facilitator.settle.setDefault('honest')
    expect((await sendUntilSettled(world, '1,1', payment)).status).toBe(200)
  })

  test('a client that signs a new payment while the first one is in doubt is charged once, and gets the first purchase', async () => {
    const payer = await world.createFundedWallet(5)
    const demand = (await fetchBlock(world, 'next')).headers.get('payment-required') ?? ''
    const [first, second] = [await signDemand(demand, payer), await signDemand(demand, payer)]
    world.facilitator.settle.setDefault('error-before')
    expect((await fetchBlock(world, 'next', first)).status).toBe(503)
    expect((await fetchBlock(world, 'next', second)).status).toBe(503)
    world.facilitator.settle.setDefault('honest')
    const response = await sendUntilSettled(world, 'next', second)
    expect(response.status).toBe(200)
    const receipt = await response.text()
    const { notice: _, ...expected } = JSON.parse(receipt) as Receipt
    expect(await (await fetchBlock(world, 'next', first)).json()).toEqual(expected)
    expect(await world.readBalance(payer)).toBe(4)
  })

  test('a stock client that retries until it gets 200 gets its block for one dollar, whatever failed before', async () => {
    await Promise.all(
      [...afterTheMoneyMoved, ...beforeTheMoneyMoved].map(async (fault, at) => {
        const payer = await world.createFundedWallet(5)
        const target = at % 2 === 0 ? 'next' : `${at},5`
        world.facilitator.settle.queueFaults(fault)
        const block = await waitFor(async () => {
          const client = new x402Client().register('eip155:8453', new ExactEvmScheme(payer))
          const response = await wrapFetchWithPayment(fetch, client)(`${world.url}/blocks/${target}`)
          return response.status === 200 ? ((await response.json()) as Receipt | Deed).block : undefined
        })
        expect(await world.readBalance(payer)).toBe(4)
        if (target !== 'next') expect(JSON.stringify(block)).toContain(target)
      }),
    )
  })

  test('if the facilitator rejects a payment before the broadcast, its block is released immediately, and nothing is charged', async () => {
    const payer = await world.createFundedWallet()
    const payment = await signBlockPayment(world, payer, '2,2')
    world.facilitator.settle.queueFaults('refused-recipient')
    const answer = await fetchBlock(world, '2,2', payment)
    expect([answer.status, await answer.json()]).toMatchObject([
      402,
      { reason: 'invalid_exact_evm_recipient_mismatch' },
    ])
    expect((await fetchBlock(world, '2,2')).status).toBe(402)
    expect(await world.readBalance(payer)).toBe(2)
  })

  test('if the facilitator fails at verification, no block is held, and the same payment can still buy the block later', async () => {
    const payer = await world.createFundedWallet()
    const payment = await signBlockPayment(world, payer, '3,3')
    for (const fault of ['error-500', 'error-503', 'reset', 'garbage', 'bad-signature'] as const) {
      world.facilitator.verify.queueFaults(fault)
      const answer = await fetchBlock(world, '3,3', payment)
      expect([fault, answer.status, await answer.json()]).toMatchObject([
        fault,
        502,
        { error: 'facilitator_unavailable' },
      ])
    }
    expect((await fetchBlock(world, '3,3')).status).toBe(402)
    expect((await sendWhile(502, () => fetchBlock(world, '3,3', payment))).status).toBe(200)
  })

  test('a payer without enough money is rejected for its insufficient balance, and no block is held for it', async () => {
    const payer = await world.createFundedWallet(0)
    const answer = await fetchBlock(world, '4,4', await signBlockPayment(world, payer, '4,4'))
    expect([answer.status, await answer.json()]).toMatchObject([
      402,
      { reason: 'invalid_exact_evm_insufficient_balance', balance: '0' },
    ])
    expect((await fetchBlock(world, '4,4')).status).toBe(402)
  })
})
