import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createWallet } from '../../server/local/wallets.ts'
import type { AreaReceipt } from '../../shared/contract/area-order.ts'
import { orderArea, signArea } from '../support/e2e/area-orders.ts'
import { fetchBlock, sendUntilSettled, signBlockPayment } from '../support/e2e/buyer.ts'
import { shareWorld, type World } from '../support/e2e/world.ts'
import { createFlatPng } from '../support/picture-files.ts'
import { listCoords } from '../support/samples.ts'
import { createScratchFolder } from '../support/scratch-folder.ts'
import { sendWhile } from '../support/wait.ts'

let world: World

describe('a wall on a file', () => {
  shareWorld((opened) => void (world = opened))

  test('purchases interrupted by kill -9 during settlement continue automatically, and their signed requests get the receipts', async () => {
    const buyers = await Promise.all(
      (['hang-before', 'hang-after'] as const).map(async (fault) => {
        const wallet = await world.createFundedWallet(5)
        world.facilitator.settle.queueFaults(fault)
        return { wallet, payment: await signBlockPayment(world, wallet) }
      }),
    )
    const arrivals = world.facilitator.settle.countCalls()
    const cutOff = buyers.map(({ payment }) => fetchBlock(world, 'next', payment).catch(() => undefined))
    await world.facilitator.settle.waitForCall(arrivals + buyers.length)
    await world.crash()
    await Promise.all(cutOff)
    for (const { wallet, payment } of buyers) {
      expect((await sendUntilSettled(world, 'next', payment)).status).toBe(200)
      expect(await world.readBalance(wallet)).toBe(4)
    }
  })

  test('after a kill -9 during a purchase of 400 blocks that is already paid, the same request gets the same area for one payment', async () => {
    const payer = await world.createFundedWallet(401)
    const body = { at: '100,20', w: 20, h: 20, image: createFlatPng(200, 200, '#00ff00').toBase64() }
    const payment = await signArea(world, payer, body)
    const { settle } = world.facilitator
    const forwarded = settle.countForwarded()
    settle.queueFaults('hang-after')
    const cut = orderArea(world, body, payment).catch(() => undefined)
    await settle.waitForForward(forwarded + 1)
    await world.crash()
    await cut
    const response = await sendWhile(503, () => orderArea(world, body, payment))
    expect(response.status).toBe(200)
    const receipt = (await response.json()) as AreaReceipt
    expect(receipt.blocks).toEqual([...listCoords(`${body.at},20x20`)])
    expect(await world.readBalance(payer)).toBe(1)
    expect(await (await orderArea(world, body, payment)).json()).toEqual(receipt)
  })

  test('after SIGTERM, a settlement in progress finishes and its buyer gets the response', async () => {
    const wallet = await world.createFundedWallet()
    const payment = await signBlockPayment(world, wallet)
    const arrivals = world.facilitator.settle.countCalls()
    const answer = fetchBlock(world, 'next', payment)
    await world.facilitator.settle.waitForCall(arrivals + 1)
    const stopped = world.restart()
    expect((await answer).status).toBe(200)
    await stopped
  })

  test('after SIGTERM, a wall reports that it is not ready, but still serves requests during the time that DRAIN_MS sets', async () => {
    const own = { DATABASE_PATH: join(world.folder, 'drained.sqlite'), PAY_TO: createWallet().address }
    const wall = await world.startArmedWall({ ...own, DRAIN_MS: '600000' })
    expect((await fetch(`${wall.url}/readyz/reads`)).status).toBe(200)
    process.kill(wall.pid, 'SIGTERM')
    for (const path of ['/readyz', '/readyz/reads']) {
      const answer = await sendWhile(200, () => fetch(wall.url + path))
      expect([answer.status, await answer.json()]).toMatchObject([503, { reasons: ['the wall is shutting down'] }])
    }
    expect((await fetch(`${wall.url}/livez`)).status).toBe(200)
    const payment = await signBlockPayment(wall, await world.createFundedWallet())
    expect((await fetchBlock(wall, 'next', payment)).status).toBe(200)
    // A second signal ends the wait, and interrupts no request.
    expect(await wall.stop()).toBe(0)
  })
})

describe('errors at the start that only an operator can fix', () => {
  const folder = createScratchFolder()
  const waitForExit = async (env: Record<string, string>) => {
    const child = Bun.spawn([process.execPath, join(import.meta.dir, '../../server/main.ts')], {
      env: { PATH: Bun.env['PATH'] ?? '', ...env },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const words = await new Response(child.stderr).text()
    return [await child.exited, words]
  }

  test('a wall that starts with invalid settings reports all of them and exits with status 78', async () => {
    const [status, words] = await waitForExit({ BASE_URL: 'wall.example', PAY_TO: '0x'.padEnd(42, '0'), PORT: 'x' })
    expect(status).toBe(78)
    for (const name of ['BASE_URL', 'PAY_TO', 'FACILITATOR_URL', 'PORT']) expect(words).toContain(name)
  })

  test('a wall that starts on a file that is not a database exits with status 78, and one whose database is down exits with status 1', async () => {
    const settings = {
      BASE_URL: 'http://127.0.0.1:1',
      PAY_TO: createWallet().address,
      FACILITATOR_URL: 'http://127.0.0.1:1',
    }
    const path = join(folder, 'wall.sqlite')
    await Bun.write(path, 'no database at all '.repeat(100))
    expect(await waitForExit({ ...settings, DATABASE_PATH: path })).toEqual([78, expect.stringContaining('damaged')])
    const away = 'postgres://wall@127.0.0.1:1/wall'
    expect(await waitForExit({ ...settings, DATABASE_URL: away })).toEqual([
      1,
      expect.stringContaining('cannot be used'),
    ])
  })
})
