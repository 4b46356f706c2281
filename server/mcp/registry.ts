/** Every tool, in the order it is listed: those of the contract, then what helps with them. */

import type { Tool } from './tool.ts'
import { buyBlock } from './tools/buy-block.ts'
import { findSpace } from './tools/find-space.ts'
import { getBlock } from './tools/get-block.ts'
import { getFoundingMachines } from './tools/get-founding-machines.ts'
import { getWallImage } from './tools/get-wall-image.ts'
import { getWall } from './tools/get-wall.ts'
import { imageToPixels } from './tools/image-to-pixels.ts'
import { listUnclaimed } from './tools/list-unclaimed.ts'
import { myWall } from './tools/my-wall.ts'
import { previewBlock } from './tools/preview-block.ts'
import { setPixels } from './tools/set-pixels.ts'
import { signingMessage } from './tools/signing-message.ts'

export const TOOLS: readonly Tool[] = [
  getWall,
  getBlock,
  listUnclaimed,
  getFoundingMachines,
  setPixels,
  buyBlock,
  previewBlock,
  findSpace,
  imageToPixels,
  getWallImage,
  signingMessage,
  myWall,
]

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
