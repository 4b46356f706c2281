/** Every tool, in the order it is listed. */

import type { Tool } from './tool.ts'
import { buyBlock } from './tools/buy-block.ts'
import { getBlock } from './tools/get-block.ts'
import { getFoundingMachines } from './tools/get-founding-machines.ts'
import { getWall } from './tools/get-wall.ts'
import { listUnclaimed } from './tools/list-unclaimed.ts'
import { setPixels } from './tools/set-pixels.ts'

export const TOOLS: readonly Tool[] = [getWall, getBlock, listUnclaimed, getFoundingMachines, setPixels, buyBlock]

/** The tool of a name; `undefined` when there is none. */
export const toolNamed = (name: string): Tool | undefined => TOOLS.find((tool) => tool.name === name)

/** What tools/list answers: plain JSON schemas, without what TypeBox keeps beside them. */
export const TOOL_LIST = TOOLS.map(({ name, title, description, annotations, input, output }) => ({
  name,
  title,
  description,
  inputSchema: published(input),
  ...(output === undefined ? {} : { outputSchema: published(output) }),
  annotations,
}))

type ObjectSchema = { type: 'object'; [member: string]: unknown }

function published(schema: object): ObjectSchema {
  const plain: Readonly<Record<string, unknown>> = JSON.parse(JSON.stringify(schema))
  return { ...plain, type: 'object' }
}
