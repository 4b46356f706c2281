/** Node, for tests of what runs on Node: `bun run` puts a folder on the search path whose `node` is Bun. */

import { existsSync, realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const BUN = realpathSync(process.execPath)
const isBun = (program: string) => existsSync(program) && realpathSync(program) === BUN

/** The search path for programs, without the folders whose `node` is Bun. */
export const PATH = (Bun.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !isBun(join(folder, 'node')))
  .join(delimiter)

/** The path of Node. */
export const NODE = Bun.which('node', { PATH }) ?? 'node'
