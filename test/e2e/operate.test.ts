import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFacilitatorClient, createOneDollarTerms, signPayment } from '../support/chain/payments.ts'
import { orderArea, signArea } from '../support/e2e/area-orders.ts'
import { buyBlock, fetchBlock, repaintBlock, signBlockPayment } from '../support/e2e/buyer.ts'
import { runCommand } from '../support/e2e/command.ts'
import { findMetricsPort, readCanvas, readFeed } from '../support/e2e/read-wall.ts'
import { startWorld, type World } from '../support/e2e/world.ts'
import { waitFor, waitUntil } from '../support/wait.ts'

// Goal: an operator's commands do what they say on a wall that sells, and report the truth. Method: the commands as an
// operator types them, with the real process and a real chain.

let world: World

/** Runs a command with the wall's settings. */
const runOperatorCommand = (command: string, ...args: readonly string[]) =>
  runCommand(world.settings, world.folder, command, ...args)

const readBooks = async () => {
  const { out, status } = await runOperatorCommand('books', '--json')
  const result: Record<string, unknown> = JSON.parse(out)
  return { ...result, status, open: result['open'] }
}

const locateMonitors = () => `http://127.0.0.1:${findMetricsPort(world.getWall())}`

const readMetric = async (line: string) =>
  (await (await fetch(`${locateMonitors()}/metrics`)).text()).split('\n').find((text) => text.startsWith(line))

const countOpenPurchases = async (state: string) =>
  (await readMetric(`wall_open_purchases{state="${state}"}`))?.split(' ')[1]

describe('a wall on a file', () => {
  beforeAll(async () => {
    world = await startWorld({ METRICS_PORT: '0' })
  })
  afterAll(() => world.stop())

  test('while the books balance, the command books exits with status 0, both before the first sale and after two sales', async () => {
    expect(await readBooks()).toMatchObject({ status: 0, balances: true, claimed: 0, received: '0', from: null })
    for (const target of ['1,1', 'next']) await buyBlock(world, await world.createFundedWallet(), target)
    expect(await readBooks()).toMatchObject({ status: 0, balances: true, claimed: 2, received: '2000000', owed: '0' })
    const { out, status } = await runOperatorCommand('books')
    expect([status, out]).toEqual([0, expect.stringContaining('They balance.')])
  })

  test('the command status shows whether the wall sells, how much money it received and how many instances run', async () => {
    const { out, status } = await runOperatorCommand('status')
    expect([status, out]).toEqual([0, expect.stringMatching(/^ {2}sells +yes$/m)])
    expect(out).toMatch(/^ {2}sold +2 of 14400 blocks$/m)
    expect(out).toMatch(/^ {2}money +2\.00 USDC for blocks, 0\.00 USDC owed for 0 credits, 0 stray payments$/m)
    expect(out).toMatch(/^ {2}instances +1$/m)
    expect((await runOperatorCommand('status', '--every', '0')).status).toBe(2)
  })

  test('the command books lists an open purchase of twelve blocks with its evidence, and the command resolve reports the purchase as sold after a resend', async () => {
    const order = { at: '40,40', w: 4, h: 3 }
    const payment = await signArea(world, await world.createFundedWallet(12), order)
    world.facilitator.settle.queueFaults('hang-before', 'hang-before', 'hang-before')
    expect((await orderArea(world, order, payment)).status).toBe(503)
    const { open } = await readBooks()
    const expected = { area: '40,40,4x3', target: '40,40,4x3', amount: '12000000', evidence: { kind: 'unspent' } }
    expect(open).toEqual([expect.objectContaining(expected)])
    const { out } = await runOperatorCommand('books')
    expect(out).toMatch(/^ {2}open purchases +1$/m)
    expect(out).toMatch(/12\.00 USDC for area 40,40,4x3: held, in doubt for 0 min; the chain: /)
    expect((await runOperatorCommand('status')).out).toMatch(
      /open purchases, oldest first\n {4}\d+ s +12\.00 USDC for area 40,40,4x3: held, in doubt, 0x/,
    )
    // Monitors see the last known state of the store.
    await waitUntil(async () => (await countOpenPurchases('doubted')) === '1')
    await waitUntil(async () => (await orderArea(world, order, payment)).status === 200)
    const [key] = open as readonly [{ payer: string; nonce: string }]
    const resolved = await runOperatorCommand('resolve', key.payer, key.nonce)
    expect(resolved.out).toMatch(/area 40,40,4x3: sold; the chain: paid in 0x/)
    expect(await readBooks()).toMatchObject({ status: 0, balances: true, claimed: 14, open: [] })
    expect((await runOperatorCommand('status')).out).toMatch(/^ {2}money +14\.00 USDC for blocks/m)
    expect(await readMetric('wall_purchase_blocks_bucket{le="12"}')).toBeDefined()
  })

  test('if the price of a block arrives without a known purchase, the books do not balance until the operator resolves it', async () => {
    const stray = await world.network.createFundedWallet(1)
    const terms = createOneDollarTerms(world.payTo)
    const payload = await signPayment(stray, terms)
    expect(await createFacilitatorClient(world.network.facilitatorUrl).settle(payload, terms)).toMatchObject({
      success: true,
    })
    const { nonce } = (payload.payload as { authorization: { nonce: string } }).authorization
    expect(await readBooks()).toMatchObject({ status: 1, balances: false, orphans: [{ nonce, amount: '1000000' }] })
    expect(await runOperatorCommand('resolve', stray.address, nonce, '--paid-out', 'refund 7')).toMatchObject({
      status: 0,
    })
    expect(await readBooks()).toMatchObject({ status: 0, orphans: [], byHand: [{ nonce }] })
    const list = join(world.folder, 'payouts.txt')
    writeFileSync(list, `${stray.address} ${nonce} refund 10\n${stray.address} ${nonce}\n`)
    const cut = await runOperatorCommand('resolve', '--paid-out-from', list)
    expect([cut.status, cut.err]).toEqual([2, expect.stringContaining('line 2 is not PAYER NONCE REFERENCE')])
    writeFileSync(list, `${stray.address} ${nonce} refund 10\n\n${stray.address} 0x${'77'.repeat(32)} refund 11\n`)
    const noted = await runOperatorCommand('resolve', '--paid-out-from', list)
    expect([noted.status, noted.out.trim().split('\n')]).toEqual([
      1,
      [
        expect.stringMatching(/a reference was already recorded, and was kept$/),
        expect.stringMatching(/no such payment$/),
      ],
    ])
  })

  test('hidden content disappears for every reader, stays hidden through repaints and restarts, and is on the block again once the operator unhides it', async () => {
    const wallet = await world.createFundedWallet()
    const px = '05'.repeat(100)
    const query = `3,3?name=N&message=rude&link=https://rude.example/&px=${px}`
    expect((await fetchBlock(world, query, await signBlockPayment(world, wallet, '3,3'))).status).toBe(200)
    const readShownContent = async () => {
      const item = await waitFor(async () => (await readCanvas(world)).blocks.find(({ i }) => i === 3 * 160 + 3))
      const deed = (await (await fetchBlock(world, '3,3')).json()) as Record<string, unknown>
      const sale = (await readFeed(world)).find(({ coord }) => coord === '3,3')
      const texts = [item, deed, sale, await (await fetch(`${world.url}/api/agents`)).json()]
      return { item, deed, sale, text: JSON.stringify(texts) }
    }
    expect(await runOperatorCommand('hide', '3,3', '--message', '--link')).toMatchObject({
      status: 0,
      out: 'block 3,3: hidden: message, link\n',
    })
    await waitUntil(async () => (await readShownContent()).item?.m === undefined)
    const hidden = await readShownContent()
    expect(hidden.text).not.toContain('rude')
    expect(hidden.deed).toMatchObject({ message: null, link: null, owner: { name: 'N' } })
    expect(hidden.item?.px).toBe(Uint8Array.fromHex(px).toBase64())

    const repainted = await repaintBlock(world, wallet, '3,3', 'ruder')
    expect(await repainted.json()).toMatchObject({ updated: true, deed: { message: null } })
    await world.restart()
    expect((await readShownContent()).text).not.toContain('rude')

    expect((await runOperatorCommand('unhide', '3,3')).out).toBe('block 3,3: everything is shown\n')
    await waitUntil(async () => (await readShownContent()).item?.m === 'ruder')
    const shown = await readShownContent()
    expect(shown.deed).toMatchObject({ message: 'ruder', link: 'https://rude.example/' })
    expect(shown.sale?.m).toBeUndefined()
    expect((await runOperatorCommand('hide', '90,1')).status).toBe(1)
  })

  test('a reported artwork is listed with the notes of its reports until the operator dismisses the reports, and can still be hidden afterwards', async () => {
    const sendReport = async (reason: string) => {
      const body = JSON.stringify({ block: '3,3', reason, note: 'look at the link' })
      const headers = { 'content-type': 'application/json' }
      return (await fetch(`${world.url}/api/reports`, { method: 'POST', headers, body })).status
    }
    expect([(await runOperatorCommand('reports')).out, await sendReport('scam'), await sendReport('scam')]).toEqual([
      'There are no reports.\n',
      200,
      200,
    ])
    const { out, status } = await runOperatorCommand('reports')
    expect([status, out]).toEqual([0, expect.stringMatching(/^3,3, 1 block of 0x[0-9a-f]{40}: 1 scam$/m)])
    expect(out).toMatch(/scam: look at the link$/m)
    expect((await runOperatorCommand('reports', 'hide', '3,3')).status).toBe(2)
    expect(await runOperatorCommand('reports', 'dismiss', '3,3', '--why', 'fine')).toMatchObject({
      status: 0,
      out: 'the work at 3,3 (blocks: 1): it is left as it is; reports closed: 1\n',
    })
    expect((await runOperatorCommand('reports')).out).toBe('There are no reports.\n')
    expect((await runOperatorCommand('reports', 'hide', '3,3', '--why', 'rude')).out).toContain(
      'everything on it is hidden',
    )
    expect((await runOperatorCommand('hidden', '--trail')).out).toMatch(
      /hide work at 3,3 \(pixels,message,link\): rude$/m,
    )
  })

  test('the command backup works while the wall runs, and status then shows the backup’s age', async () => {
    expect((await runOperatorCommand('status')).out).toMatch(/^ {2}backup +NEVER$/m)
    expect(await runOperatorCommand('backup', 'copy.sqlite')).toMatchObject({ status: 0, err: '' })
    await waitUntil(async () => /^ {2}backup +\d+ (?:s|min.*) ago$/m.test((await runOperatorCommand('status')).out))
    expect(Number((await readMetric('wall_last_backup_timestamp_seconds'))?.split(' ')[1])).toBeGreaterThan(
      1_700_000_000,
    )
  })

  test('only the user that runs the wall can reach the admin socket, and resolve fails if no wall with the given settings is running', async () => {
    const socket = 'wall.sqlite.sock'
    expect(statSync(join(world.folder, socket)).mode & 0o777).toBe(0o600)
    await world.crash()
    expect((await runOperatorCommand('resolve')).status).toBe(0)
    const nowhere = { DATABASE_PATH: join(world.databasePath, '../none.sqlite') }
    expect(await runCommand(nowhere, world.folder, 'resolve')).toMatchObject({
      status: 2,
      err: expect.stringContaining('no wall with these settings is running on this machine'),
    })
  })

  test('the metrics contain counts, times and states, but not the address of a buyer', async () => {
    const buyer = await world.createFundedWallet()
    await fetchBlock(world, 'next', await signBlockPayment(world, buyer))
    const response = await fetch(`${locateMonitors()}/metrics`)
    expect(response.headers.get('content-type')).toStartWith('text/plain; version=0.0.4')
    const text = await response.text()
    for (const line of [
      'wall_purchases_total{outcome="bought"} 1',
      'wall_rail{state="armed"} 1',
      'wall_ready{for="sales"} 1',
      'wall_blocks{state="sold"} 16',
      'wall_http_requests_total{route="/blocks/:name",code="200"} 1',
      `wall_facilitator_seconds_count{facilitator="${new URL(world.settings['FACILITATOR_URL'] ?? '').host}",call="verify",result="valid"} 1`,
    ])
      expect(text).toContain(`${line}\n`)
    for (const name of ['wall_chain_seconds_bucket', 'wall_event_loop_delay_seconds', 'wall_oldest_open_purchase'])
      expect(text).toContain(name)
    expect(text.toLowerCase()).not.toContain(buyer.address.toLowerCase())
    expect((await fetch(`${locateMonitors()}/`)).status).toBe(404)
  })
})
