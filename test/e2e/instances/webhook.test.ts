import { afterAll, beforeAll, expect, test } from 'bun:test'
import { computeSignature, type WebhookBody } from '../../../server/adapters/webhook.ts'
import { buyBlock } from '../../support/e2e/buyer.ts'
import { type Cluster, startCluster } from '../../support/e2e/cluster.ts'
import { runCommand } from '../../support/e2e/command.ts'
import { waitUntil } from '../../support/wait.ts'

// Goal: an operator’s system gets each sale in order, signed, and under the same id at each attempt. Buyers never wait
// for that system. Method: two real processes on one database, and a real receiver that hangs, fails and comes back.

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const key = new Uint8Array(Buffer.from(SECRET.slice('whsec_'.length), 'base64'))

type Received = WebhookBody & { readonly id: string }

const received: Received[] = []
let tries = 0
let respond: () => Promise<number> = async () => 204
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    tries += 1
    const body = await request.text()
    const readHeader = (name: string) => request.headers.get(name) ?? ''
    const id = readHeader('webhook-id')
    const signature = computeSignature(key, id, Number(readHeader('webhook-timestamp')), body)
    const status = readHeader('webhook-signature') === signature ? await respond() : 401
    if (status === 204) received.push({ id, ...(JSON.parse(body) as WebhookBody) })
    return new Response(null, { status })
  },
})

let wall: Cluster
beforeAll(async () => {
  wall = await startCluster(2, { WEBHOOK_URL: receiver.url.href, WEBHOOK_SECRET: SECRET })
}, 60_000)
afterAll(async () => {
  await wall.stop()
  await receiver.stop(true)
}, 30_000)

const listSales = () => received.filter(({ type }) => type === 'sale')
const buyBlockAt = async (at: number, coord: string) =>
  await buyBlock(wall.getInstance(at), await wall.createFundedWallet(), coord)

test('all sales of two instances are delivered in order, each under one id, even if the receiver hangs and one instance is killed', async () => {
  await buyBlockAt(0, '1,1')
  await buyBlockAt(1, '2,1')
  await waitUntil(() => listSales().length > 0)
  const hanging = Promise.withResolvers<number>()
  respond = () => hanging.promise
  const before = tries
  await buyBlockAt(0, '3,1')
  await waitUntil(() => tries > before)
  // No sale waits for the receiver.
  for (const [at, coord] of ['4,1', '5,1', '6,1'].entries()) await buyBlockAt(at, coord)
  hanging.resolve(204)
  respond = async () => 204
  await waitUntil(() => listSales().some(({ data }) => data['place'] === '6,1'))
  const [first] = wall.instances
  await first?.kill()
  await buyBlockAt(1, '7,1')
  await waitUntil(() => listSales().some(({ data }) => data['place'] === '7,1'))
  await first?.start()
  const once = listSales().filter(({ id }, at, all) => all.findIndex((other) => other.id === id) === at)
  const numbers = once.map(({ data }) => Number(data['number']))
  expect(numbers).toEqual(numbers.toSorted((one, other) => one - other))
  expect(once.map(({ data }) => data['place']).slice(-5)).toEqual(['3,1', '4,1', '5,1', '6,1', '7,1'])
  expect(once.every(({ data }) => data['amount'] === '1000000')).toBe(true)
  // Notices of the last second before a process was killed may be sent again, under the same id.
  const sentBefore = 4
  expect(listSales().length - once.length).toBeLessThanOrEqual(sentBefore)
}, 60_000)

test('`check` sends a notice that the receiver can verify, and reports a receiver that does not accept it', async () => {
  const settings = { ...wall.settings, DATABASE_PATH: ':memory:', WEBHOOK_URL: receiver.url.href }
  const runCheck = async (secret: string) =>
    (await runCommand({ ...settings, WEBHOOK_SECRET: secret }, wall.folder, 'check')).out
  expect(await runCheck(SECRET)).toContain(`ok     webhook ${receiver.url.host}`)
  expect(received.at(-1)?.type).toBe('test')
  expect(await runCheck(`whsec_${'A'.repeat(32)}`)).toContain(
    `WRONG  webhook ${receiver.url.host}: it returned status 401`,
  )
}, 60_000)
