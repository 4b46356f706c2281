import { expect, test } from 'bun:test'
import type { WalletStanding } from '../../../../shared/contract/wallet.ts'
import { readBody } from '../../../support/service/client.ts'
import { openWall } from '../../../support/service/wall.ts'

// Goal: users of Eden get the types of the contract from the routes. Method: the assignments and comparisons here
// compile only if each response has the right type, and the responses are real.

const wall = await openWall()
await wall.buyBlock('/blocks/3,4?name=Ada', 1)

test('the body of a response has the type that its route declares', async () => {
  const { stats, blocks } = await readBody(wall.client.api.canvas.get())
  expect([stats.claimed, blocks.length]).toEqual([1, 1])
  const query = { after: 0, limit: 10 }
  const { sales } = await readBody(wall.client.api.feed.get({ query }))
  expect(sales.map(({ agent }) => agent.name)).toEqual(['Ada'])
})

test('the body of an error has the type that the route declares for the status of the error', async () => {
  const { error } = await wall.client.blocks({ coord: '3,5' }).get()
  if (error?.status !== 402) throw new Error(`a request for an open block gets 402, not ${error?.status}`)
  expect([error.value.error, error.value.accepts[0]?.maxAmountRequired]).toEqual(['payment_required', '1000000'])
})

test('the reader of typed bodies throws if the status of a response is not 200', async () => {
  const standing: Promise<WalletStanding> = readBody(
    wall.client.api.agents({ wallet: 'nobody' }).get({ query: { after: 0, limit: 10 } }),
  )
  await expect(standing).rejects.toThrow('answered 400')
})
