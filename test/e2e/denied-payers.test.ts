import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { wall as wallAt } from '../../server/client/wall.ts'
import { fetchBlock, signBlockPayment } from '../support/e2e/buyer.ts'
import { startSurroundings, type Surroundings } from '../support/e2e/world.ts'
import { sendWhile } from '../support/wait.ts'

// Goal: a payer that the operator denies buys nothing, and a change of the list needs no restart. Method: the real
// process with a real chain and facilitator, and our own client.

let around: Surroundings
beforeAll(async () => {
  around = await startSurroundings()
})
afterAll(() => around.stop())

test('a denied payer is rejected without a charge, and can buy once its address is removed from the DENY_PAYERS file, without a restart of the wall', async () => {
  const payer = await around.createFundedWallet(5)
  const path = join(around.folder, 'denied.txt')
  await writeFile(path, `${payer.address} # by order of a court\n`)
  const wall = await around.startArmedWall({ ...(await around.createFileSettings()), DENY_PAYERS: path })
  try {
    const payment = await signBlockPayment(wall, payer)
    const refused = await fetchBlock(wall, 'next', payment)
    expect([refused.status, await refused.json()]).toMatchObject([403, { error: 'payer_denied' }])
    const client = wallAt(wall.url, { account: payer, folder: join(around.folder, 'payments') })
    await expect(client.buy('next')).rejects.toMatchObject({ code: 'payer_denied', kind: 'unknown', status: 403 })
    expect(await around.readBalance(payer)).toBe(5)
    await writeFile(path, '')
    const bought = await sendWhile(403, () => fetchBlock(wall, 'next', payment))
    expect(bought.status).toBe(200)
    expect(await around.readBalance(payer)).toBe(4)
  } finally {
    await wall.stop()
  }
})
