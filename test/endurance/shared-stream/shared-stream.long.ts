import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readResidentMb } from '../../../bench/measure/cpu.ts'
import type { Wallet } from '../../../server/local/wallets.ts'
import { SHARED_STREAM } from '../../../shared/contract/live.ts'
import { buyBlock, repaintBlock } from '../../support/e2e/buyer.ts'
import { runCommand } from '../../support/e2e/command.ts'
import { isInstalled, type Proxy, startProxy } from '../../support/e2e/proxies.ts'
import { findMetricsPort } from '../../support/e2e/read-wall.ts'
import { startWorld, type World } from '../../support/e2e/world.ts'
import { readBody, createClient } from '../../support/service/client.ts'
import { reportSkipped } from '../../support/skipped.ts'
import { startFollowers } from './followers.ts'

// Goal: any number of clients can follow the wall over a single stream from the wall. Method: Varnish with the shipped
// recipe is in front of a process. A crowd follows through Varnish for longer than two streams last; meanwhile, a block
// is repainted every two seconds.

const FOLLOWERS = Number(Bun.env['FOLLOWERS'] ?? 10_000)
const FEW = 10
const REPAINTS = 60
const REPAINTED_EVERY_MS = 2000
// How long a stream lasts before `server/http/live.ts` ends it.
const STREAM_MS = 55_000
const BLOCK = '70,40'

describe.skipIf(reportSkipped('varnish', isInstalled('varnish')))('behind a Varnish that shares the stream', () => {
  let wall: World
  let proxy: Proxy
  let owner: Wallet
  beforeAll(async () => {
    wall = await startWorld({ METRICS_PORT: '0' })
    proxy = await startProxy('varnish', [new URL(wall.url).port])
    owner = await wall.createFundedWallet()
    await buyBlock(proxy, owner, BLOCK)
  }, 60_000)
  afterAll(async () => {
    await proxy.stop()
    await wall.stop()
  })

  const readNewestNumber = async () => (await readBody(createClient(wall).api.tail.get())).nextAfter

  const begins: number[] = []

  /** The most shared streams that can be open: those that the wall started within the duration of one stream. */
  const countOpenStreams = async () => {
    const text = await (await fetch(`http://127.0.0.1:${findMetricsPort(wall.getWall())}/metrics`)).text()
    const [, count = 0] =
      new RegExp(`^wall_http_requests_total\\{.*"${SHARED_STREAM}".*\\} (\\d+)$`, 'm').exec(text) ?? []
    while (begins.length < Number(count)) begins.push(performance.now())
    return begins.filter((time) => time > performance.now() - STREAM_MS).length
  }

  /** Runs a crowd during repaints; returns its observations, and the most streams and memory that the wall used. */
  const measureFollowers = async (count: number) => {
    const crowd = await startFollowers(proxy.url, count, await readNewestNumber())
    let [mb, streams] = [0, 0]
    for (let at = 0; at < REPAINTS; at++) {
      expect((await repaintBlock(proxy, owner, BLOCK, `${count} ${at}`)).status).toBe(200)
      await Bun.sleep(REPAINTED_EVERY_MS)
      streams = Math.max(streams, await countOpenStreams())
      mb = Math.max(mb, readResidentMb(wall.getWall().pid))
    }
    return { ...(await crowd.waitForChange(await readNewestNumber())), streams, mb: Math.round(mb) }
  }

  test(`${FOLLOWERS} followers get every change while the wall serves at most two concurrent streams`, async () => {
    const few = await measureFollowers(FEW)
    const many = await measureFollowers(FOLLOWERS)
    console.log(JSON.stringify({ followers: FOLLOWERS, ...many, mbWithFew: few.mb }))
    expect(many).toMatchObject({ lost: 0, brokenOff: 0, received: FOLLOWERS * REPAINTS })
    expect(many.begun).toBeGreaterThan(2 * FOLLOWERS)
    expect(many.streams).toBeLessThanOrEqual(2)
    expect(many.delays.median).toBeLessThan(1500)
    expect(many.mb).toBeLessThan(few.mb + 32)
  })

  test('if the operator hides a block, the shared stream is cut, and later readers do not get the message of that block', async () => {
    const readStreamUntil = async (enough: (text: string) => boolean) => {
      const { body } = await fetch(proxy.url + SHARED_STREAM)
      let text = ''
      for await (const chunk of (body ?? new ReadableStream<Uint8Array>()).pipeThrough(new TextDecoderStream())) {
        text += chunk
        if (enough(text)) break
      }
      return text
    }
    await repaintBlock(proxy, owner, BLOCK, 'bad word')
    const following = readStreamUntil(() => false).catch(() => 'broken off')
    await readStreamUntil((text) => text.includes('bad word'))
    expect((await runCommand(wall.settings, wall.folder, 'hide', BLOCK)).status).toBe(0)
    expect(await following).toBe('broken off')
    expect(await readStreamUntil((text) => text.includes(`"${BLOCK}"`))).not.toContain('bad word')
  })
})
