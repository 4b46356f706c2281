import { expect, test } from 'bun:test'
import { findFreePort } from '../../server/local/wall-process.ts'

test('a free port is below the ports that the system itself gives to other processes, and is returned once', async () => {
  const lowestPortOfTheSystem = 32_768
  const ports = await Promise.all(Array.from({ length: 100 }, findFreePort))
  expect(ports.filter((port) => port < 1024 || port >= lowestPortOfTheSystem)).toEqual([])
  expect(new Set(ports).size).toBe(ports.length)
})

test('a port that a process listens on is not returned', async () => {
  const next = (await findFreePort()) + 1
  const listener = listenUnlessInUse(next)
  expect(await findFreePort()).not.toBe(next)
  listener?.stop(true)
})

/** Listens on the port; another process that already listens on it is as good. */
function listenUnlessInUse(port: number) {
  try {
    return Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } })
  } catch {
    return undefined
  }
}
