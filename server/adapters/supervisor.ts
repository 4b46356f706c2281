/**
 * Notifies systemd (sd_notify) that the process is ready, alive or stopping. Each message is a datagram to the socket
 * named by NOTIFY_SOCKET. Bun has no Unix datagram sockets, so libc's are used.
 */

import { dlopen, ptr } from 'bun:ffi'

const AF_UNIX = 1
const SOCK_DGRAM = 2
const SOCK_CLOEXEC = 0o2000000

/** Notifies the supervisor of the state of the process. */
export type Supervisor = {
  /**
   * Reports that the process is serving requests. From then on, sends signs of life as often as the supervisor
   * requests.
   */
  reportReady(): void
  /** Reports that the process is stopping and from now on only finishes the requests in progress. */
  reportStopping(): void
}

const nobody: Supervisor = { reportReady: () => {}, reportStopping: () => {} }

type Environment = Readonly<Record<string, string | undefined>>

/** The supervisor that the environment names; `failed` is called if it cannot be reached. */
export function openSupervisor(env: Environment, failed: (why: string) => void): Supervisor {
  const path = env['NOTIFY_SOCKET']
  if (path === undefined || path === '' || process.platform !== 'linux') return nobody
  try {
    const notify = createDatagramSender(path)
    const isOurs = env['WATCHDOG_PID'] === undefined || env['WATCHDOG_PID'] === String(process.pid)
    const timeoutMs = isOurs ? Number(env['WATCHDOG_USEC'] ?? 0) / 1000 : 0
    return {
      reportReady() {
        notify('READY=1')
        // A hanging thread sends no sign of life. Two signs are sent per interval, because one may be late.
        if (timeoutMs > 0) setInterval(() => notify('WATCHDOG=1'), timeoutMs / 2).unref()
      },
      reportStopping: () => notify('STOPPING=1'),
    }
  } catch (error) {
    failed(error instanceof Error ? error.message : String(error))
    return nobody
  }
}

function createDatagramSender(path: string): (text: string) => void {
  const { symbols: system } = dlopen('libc.so.6', {
    socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
    sendto: { args: ['i32', 'ptr', 'u64', 'i32', 'ptr', 'u32'], returns: 'i64' },
  })
  const socket = system.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)
  if (socket < 0) throw new Error('cannot create a socket')
  // A name that starts with @ is an abstract socket, whose first byte is zero.
  const name = Buffer.from(path)
  if (path.startsWith('@')) name[0] = 0
  const address = Buffer.concat([new Uint8Array(Uint16Array.of(AF_UNIX).buffer), name])
  return (text) => {
    const words = Buffer.from(text)
    system.sendto(socket, ptr(words), words.length, 0, ptr(address), address.length)
  }
}
