import { expect, test } from 'bun:test'
import { loopbackServers } from '../../support/chain/loopback.ts'
import { clientAt } from '../../support/chain/odd-endpoint.ts'
import { wallet } from '../../support/samples.ts'

// Goal: an endpoint of the chain costs no more than was meant, whatever it answers. Method: endpoints that answer out of
// bounds, and a count of how many calls they get at once.

const serve = loopbackServers()

const balance = (value: string) => Response.json({ jsonrpc: '2.0', id: 1, result: value })

/** Asks what a wallet holds, which no client answers from memory. */
const ask = (url: string, of = 1) => clientAt(url).getBalance({ address: wallet(of) })

test('an endpoint that sends us elsewhere is not followed', async () => {
  let followed = 0
  const elsewhere = serve(() => {
    followed += 1
    return balance('0x1')
  })
  for (const status of [301, 302, 307, 308])
    await expect(ask(serve(() => Response.redirect(elsewhere, status)))).rejects.toThrow()
  expect(followed).toBe(0)
})

test('an answer of 10 MB is not read to its end', async () => {
  const padded = JSON.stringify({ jsonrpc: '2.0', id: 1, result: '0x1' }).padEnd(10_000_000)
  await expect(ask(serve(() => new Response(padded)))).rejects.toThrow()
  expect(await ask(serve(() => new Response(padded.slice(0, 1_000_000))))).toBe(1n)
})

test('32 calls are under way at once; when 512 wait, one more is refused', async () => {
  const gate = Promise.withResolvers<void>()
  const full = Promise.withResolvers<void>()
  let [running, most] = [0, 0]
  const url = serve(async () => {
    running += 1
    most = Math.max(most, running)
    if (running === 32) full.resolve()
    await gate.promise
    running -= 1
    return balance('0x1')
  })
  const client = clientAt(url)
  const asking = Array.from({ length: 32 + 512 }, (_, at) => client.getBalance({ address: wallet(at + 1) }))
  await full.promise
  await expect(client.getBalance({ address: wallet(9999) })).rejects.toThrow()
  gate.resolve()
  expect(new Set(await Promise.all(asking))).toEqual(new Set([1n]))
  expect(most).toBe(32)
})
