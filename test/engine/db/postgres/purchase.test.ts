import { describe, expect, test } from 'bun:test'
import { openPostgres } from '../../../../db/postgres/open.ts'
import { systemClock } from '../../../../server/adapters/clock.ts'
import type { Payment } from '../../../../server/domain/purchase/payment.ts'
import type { Outcome } from '../../../../server/domain/purchase/purchase.ts'
import { fakeChain } from '../../../support/fakes/chain.ts'
import { fakeFacilitator } from '../../../support/fakes/facilitator.ts'
import { sellerWith } from '../../../support/fakes/seller.ts'
import { cutProxy } from '../../../support/postgres/cut-proxy.ts'
import { hash, NOW, paymentOf, SILENT, TERMS } from '../../../support/samples.ts'
import { postgresWalls } from './walls.ts'

// Goal: a purchase during which the database goes away at its own commit is charged once, whether its client sends the same
// request again or signs anew. Method: the real seller over the real store, behind a proxy that cuts there and stays down.

const { newWall } = postgresWalls()

async function openSeller() {
  const proxy = cutProxy(await newWall())
  const db = await openPostgres(proxy.url, TERMS.network, { answerMs: 300 })
  const chain = fakeChain()
  const facilitator = fakeFacilitator(chain)
  const { ledger, leases } = db
  const clock = { ...systemClock, now: () => NOW }
  const sold = sellerWith({ ledger, leases, facilitator, chain, clock })
  return {
    db,
    proxy,
    settled: facilitator.settled,
    buy: (payment: Payment) => sold.buy('next', payment, SILENT),
    async close() {
      await sold.idle()
      await db.close()
      proxy.stop()
    },
  }
}

const told = (outcome: Outcome) => (outcome.kind === 'bought' ? outcome.purchase.payment.nonce : outcome.failure.code)

/** What a client is told in the end that sends its request again for as long as a connection is found to be dead. */
async function insist(send: () => Promise<Outcome>): Promise<string> {
  for (;;) {
    const answer = told(await send())
    if (answer !== 'database_unavailable') return answer
  }
}

const moments = [
  { what: 'the claim', after: 'INSERT INTO payments', answer: 'database_unavailable', charged: [] },
  { what: 'the sale', after: 'INSERT INTO changes', answer: 'deed_not_persisted', charged: [hash(1)] },
] as const
const cases = moments.flatMap((moment) => (['before', 'after'] as const).map((cut) => ({ ...moment, cut })))

describe.each(cases)(
  'the database goes away $cut the commit of $what reached it',
  ({ after, answer, charged, cut }) => {
    for (const [how, nonce] of [
      ['sends the same request again', 1],
      ['signs anew', 2],
    ] as const)
      test(`and a client that ${how} gets one block for one dollar`, async () => {
        const { db, proxy, buy, settled, close } = await openSeller()
        const sprung = proxy.cutAt('COMMIT', cut, after).then(() => proxy.breakDown())
        expect(told(await buy(paymentOf(1, 1)))).toBe(answer)
        await sprung
        expect(settled.map((payment) => payment.nonce)).toEqual([...charged])
        proxy.mend()
        while (!(await db.store.ready())) await Bun.sleep(10)
        const isKnown = (await db.ledger.find(paymentOf(1, 1))) !== undefined
        // What was never claimed was never charged, so that the new payment is the first one.
        const expected = isKnown ? hash(1) : hash(nonce)
        expect(await insist(() => buy(paymentOf(1, nonce)))).toBe(expected)
        expect(new Set(settled.map((payment) => payment.nonce))).toEqual(new Set([expected]))
        expect(await db.log.after(0, 9)).toHaveLength(1)
        await close()
      })
  },
)
