import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Receipt } from '../../../shared/contract/block.ts'
import { signBlockPayment } from '../../support/e2e/buyer.ts'
import { isInstalled, type Proxy, type ProxyName, startProxy } from '../../support/e2e/proxies.ts'
import { startWorld, type World } from '../../support/e2e/world.ts'
import { reportSkipped } from '../../support/skipped.ts'

// Goal: if a buyer behind a proxy hangs up and signs a new payment, the buyer pays only once. Method: each proxy,
// configured as in `deploy/`, with TLS, in front of a process; curl uses HTTP/1.1 or HTTP/2, and is killed during the
// settlement. If a proxy other than Varnish is not installed, its tests fail.

const PROXIES = ['nginx', 'caddy', 'haproxy', 'varnish'] as const satisfies readonly ProxyName[]

// The second request must arrive while the first one is in progress.
const SETTLE_TIMEOUT_MS = '5000'

const startCurl = (proxy: Proxy, version: string, payment: string) =>
  Bun.spawn(
    [
      'curl',
      '-sk',
      version,
      '-H',
      `payment-signature: ${payment}`,
      '-w',
      '\n%{http_version}',
      `${proxy.url}/blocks/next`,
    ],
    { stdout: 'pipe', stderr: 'pipe' },
  )

// Varnish does not support TLS, and so it has no HTTP/2 here. If it is not installed, only the other proxies are
// tested.
const PROTOCOLS = [
  ['--http1.1', '1.1'],
  ['--http2', '2'],
] as const
const tried = PROXIES.filter((name) => name !== 'varnish' || !reportSkipped(name, isInstalled(name)))

describe.each(tried)('behind %s', (name) => {
  const isEncrypted = name !== 'varnish'
  let wall: World
  let proxy: Proxy
  beforeAll(async () => {
    wall = await startWorld({ SETTLE_TIMEOUT_MS })
    proxy = await startProxy(name, [new URL(wall.url).port], { isEncrypted })
  }, 60_000)
  afterAll(async () => {
    await proxy.stop()
    await wall.stop()
  })

  test.each(PROTOCOLS.slice(0, isEncrypted ? 2 : 1))(
    'a buyer that hangs up during settlement (curl %s) and sends a new payment pays once, and gets the receipt',
    async (option, version) => {
      const wallet = await wall.createFundedWallet(5)
      const [first, second] = [await signBlockPayment(wall, wallet), await signBlockPayment(wall, wallet)]
      const { settle } = wall.facilitator
      settle.queueFaults('hang-after')
      const leaving = startCurl(proxy, option, first)
      await settle.waitForCall(settle.countCalls() + 1)
      leaving.kill()
      await leaving.exited
      const text = await new Response(startCurl(proxy, option, second).stdout).text()
      const [body, spoken] = [text.slice(0, text.lastIndexOf('\n')), text.slice(text.lastIndexOf('\n') + 1)]
      expect([spoken, await wall.readBalance(wallet)]).toEqual([version, 4])
      expect((JSON.parse(body) as Receipt).deed.tx).toStartWith('0x')
    },
  )
})
