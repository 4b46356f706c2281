/**
 * Limits what the kernel buffers for clients that do not read. By default, the kernel buffers up to 4 MB per
 * connection, as long as the client stays connected. Bun has no option for this, so libc's setsockopt is used.
 */

import { dlopen } from 'bun:ffi'
import { readdirSync } from 'node:fs'

const LIBC = {
  getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' },
  setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
} as const

const SOL_SOCKET = 1
const SO_SNDBUF = 7
const SO_ACCEPTCONN = 30
const IPPROTO_TCP = 6
const TCP_USER_TIMEOUT = 18

/** Limits of one connection. */
export type UnreadLimits = {
  /** Bytes that were sent but not acknowledged; the kernel doubles the limit for its own needs. */
  readonly bufferBytes: number
  readonly timeoutMs: number // how long a client may go without acknowledging anything
}

/**
 * With these limits, a client 100 ms away still gets half a megabyte per second. A proxy on the same machine gets
 * several hundred megabytes per second, half as much as without a limit.
 */
export const UNREAD_LIMITS: UnreadLimits = { bufferBytes: 64 * 1024, timeoutMs: 30_000 }

/**
 * Sets the limits on every socket that this process listens on now; connections inherit them. The kernel resets a
 * connection whose client acknowledges nothing within the time limit. Works only on Linux; `failed` is called if the
 * limits cannot be set.
 */
export function limitUnreadData(failed: (why: string) => void, limits: UnreadLimits = UNREAD_LIMITS): void {
  if (process.platform !== 'linux') return
  try {
    const { symbols: system } = dlopen('libc.so.6', LIBC)
    const size = Int32Array.BYTES_PER_ELEMENT
    const isListener = (file: number) => {
      const value = new Int32Array(1)
      return system.getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, value, Uint32Array.of(size)) === 0 && value[0] === 1
    }
    const setOption = (file: number, level: number, option: number, value: number) =>
      system.setsockopt(file, level, option, Int32Array.of(value), size) === 0
    for (const file of readdirSync('/proc/self/fd').map(Number).filter(isListener)) {
      const isSet = setOption(file, SOL_SOCKET, SO_SNDBUF, limits.bufferBytes)
      // A Unix socket has no such time limit, and needs none: only the wall's own user connects to it.
      setOption(file, IPPROTO_TCP, TCP_USER_TIMEOUT, limits.timeoutMs)
      if (!isSet) failed('the kernel rejected the size of a send buffer')
    }
  } catch (error) {
    failed(error instanceof Error ? error.message : String(error))
  }
}
