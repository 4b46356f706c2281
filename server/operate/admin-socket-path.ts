/** The path of a wall's admin socket. */

import { relative, resolve } from 'node:path'
import type { Place } from '../config.ts'

/**
 * The socket path of a wall: the configured one, or beside its database file, or else in the working directory, named after
 * its port, because several walls may share a server. Uses the shorter of two paths, because socket paths are limited.
 */
export function locateAdminSocket({ database, port, adminSocketPath }: Omit<Place, 'witnessPath'>): string {
  const beside = database.kind === 'sqlite' ? database.path : `wall-${port}`
  const whole = resolve(adminSocketPath ?? `${beside}.sock`)
  const near = relative('.', whole)
  return near.length < whole.length ? near : whole
}
