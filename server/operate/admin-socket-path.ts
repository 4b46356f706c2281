/** The path of a wall's admin socket. */

import { relative, resolve } from 'node:path'
import type { Place } from '../config.ts'

/**
 * The socket path of a wall: the configured one, or one next to its database file, or else one in the working
 * directory. A socket in the working directory is named after the wall's port, because several walls may share a
 * machine. Uses the shorter of the absolute and the relative path, because the length of socket paths is limited.
 */
export function locateAdminSocket({ database, port, adminSocketPath }: Omit<Place, 'witnessPath'>): string {
  const beside = database.kind === 'sqlite' ? database.path : `wall-${port}`
  const whole = resolve(adminSocketPath ?? `${beside}.sock`)
  const near = relative('.', whole)
  return near.length < whole.length ? near : whole
}
