/** The client's persistent folder. */

import { homedir } from 'node:os'
import { join } from 'node:path'

/** The folder for signed payments and keys: `PIXEL_WALL_HOME`, else `pixel-wall` in the user's XDG state folder. */
export const stateFolder = (env: Readonly<Record<string, string | undefined>> = process.env): string =>
  env['PIXEL_WALL_HOME'] ?? join(env['XDG_STATE_HOME'] ?? join(homedir(), '.local', 'state'), 'pixel-wall')
