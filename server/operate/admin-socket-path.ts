/** Where the admin socket of a wall is. */

import { relative, resolve } from 'node:path'
import type { Place } from '../config.ts'

/**
 * The socket of a wall: where it is set, beside its database where that is a file, else in the folder it was started in,
 * by its port, because several may share a server. The shorter way to it, because sockets have short names.
 */
export function adminSocketAt({ database, port, adminSocketPath }: Omit<Place, 'witnessPath'>): string {
  const beside = database.kind === 'sqlite' ? database.path : `wall-${port}`
  const whole = resolve(adminSocketPath ?? `${beside}.sock`)
  const near = relative('.', whole)
  return near.length < whole.length ? near : whole
}
