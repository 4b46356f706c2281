/** Where the client keeps what must outlive it. */

import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where signed payments and keys are kept: `PIXEL_WALL_HOME`, else a folder of the user's for a program's state. */
export const stateFolder = (env: Readonly<Record<string, string | undefined>> = process.env): string =>
  env['PIXEL_WALL_HOME'] ?? join(env['XDG_STATE_HOME'] ?? join(homedir(), '.local', 'state'), 'pixel-wall')
