import { dlopen, ptr } from 'bun:ffi'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openSupervisor } from '../../../server/adapters/supervisor.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'

// Goal: systemd gets the messages it waits for. Method: the test binds a socket like systemd's, and reads the datagrams
// that arrive.

const folder = createScratchFolder()

const onLinux = test.skipIf(process.platform !== 'linux')

/** Binds a datagram socket; returns a function that reads the next datagram. */
function listenAt(name: Uint8Array): () => Promise<string> {
  const { symbols } = dlopen('libc.so.6', {
    socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
    bind: { args: ['i32', 'ptr', 'u32'], returns: 'i32' },
    recv: { args: ['i32', 'ptr', 'u64', 'i32'], returns: 'i64' },
  })
  const socket = symbols.socket(1, 2, 0)
  const address = Buffer.concat([Uint8Array.of(1, 0), name])
  expect(symbols.bind(socket, ptr(address), address.length)).toBe(0)
  const room = Buffer.alloc(100)
  return async () => {
    for (;;) {
      const length = Number(symbols.recv(socket, ptr(room), room.length, 0x40))
      if (length >= 0) return room.subarray(0, length).toString()
      await Bun.sleep(5)
    }
  }
}

onLinux('the supervisor is notified when the wall is ready, regularly while it runs, and when it stops', async () => {
  const path = join(folder, 'notify')
  const next = listenAt(Buffer.from(path))
  const failed: string[] = []
  const supervisor = openSupervisor({ NOTIFY_SOCKET: path, WATCHDOG_USEC: '20000' }, (why) => failed.push(why))
  supervisor.reportReady()
  expect(await next()).toBe('READY=1')
  expect(await next()).toBe('WATCHDOG=1')
  expect(await next()).toBe('WATCHDOG=1')
  supervisor.reportStopping()
  const rest = [await next(), await next()]
  expect(rest).toContain('STOPPING=1')
  expect(failed).toEqual([])
})

onLinux('if NOTIFY_SOCKET names an abstract socket, the supervisor is notified through it', async () => {
  const name = `pixel-wall-${process.pid}`
  const next = listenAt(Buffer.from(`\0${name}`))
  openSupervisor({ NOTIFY_SOCKET: `@${name}`, WATCHDOG_USEC: '20000', WATCHDOG_PID: '1' }, () => {}).reportReady()
  expect(await next()).toBe('READY=1')
})

test('without a supervisor nothing is sent, and a supervisor that is gone causes no error', () => {
  openSupervisor({}, () => expect.unreachable()).reportReady()
  const gone = openSupervisor({ NOTIFY_SOCKET: join(folder, 'gone') }, () => expect.unreachable())
  gone.reportReady()
  gone.reportStopping()
})
