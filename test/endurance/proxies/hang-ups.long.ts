import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Receipt } from '../../../shared/contract/block.ts'
import { sign } from '../../support/e2e/buyer.ts'
import { type Proxy, type ProxyName, startProxy } from '../../support/e2e/proxies.ts'
import { startWorld, type World } from '../../support/e2e/world.ts'

// Goal: a buyer behind a shipped proxy who hangs up and signs a new payment pays once. Method: the recipes of `deploy/`, with
// TLS, in front of a process; curl speaks HTTP/1.1 and 2, and is killed in mid-settlement. A proxy that is missing is a failure.

const PROXIES = ['nginx', 'caddy', 'haproxy'] as const satisfies readonly ProxyName[]

// The second request must come while the first one is under way.
const SETTLE_TIMEOUT_MS = '5000'

const curl = (proxy: Proxy, version: string, payment: string) =>
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

describe.each(PROXIES)('behind %s', (name) => {
  let wall: World
  let proxy: Proxy
  beforeAll(async () => {
    wall = await startWorld({ SETTLE_TIMEOUT_MS })
    proxy = await startProxy(name, [new URL(wall.url).port], { isEncrypted: true })
  }, 60_000)
  afterAll(async () => {
    await proxy.stop()
    await wall.stop()
  })

  test.each([
    ['--http1.1', '1.1'],
    ['--http2', '2'],
  ])('a buyer who hangs up (%s) and signs anew pays once, and has the receipt', async (option, version) => {
    const wallet = await wall.wallet(5)
    const [first, second] = [await sign(wall, wallet), await sign(wall, wallet)]
    const { settle } = wall.facilitator
    settle.next('hang-after')
    const leaving = curl(proxy, option, first)
    await settle.arrived(settle.count() + 1)
    leaving.kill()
    await leaving.exited
    const text = await new Response(curl(proxy, option, second).stdout).text()
    const [body, spoken] = [text.slice(0, text.lastIndexOf('\n')), text.slice(text.lastIndexOf('\n') + 1)]
    expect([spoken, await wall.dollarsOf(wallet)]).toEqual([version, 4])
    expect((JSON.parse(body) as Receipt).deed.tx).toStartWith('0x')
  })
})
