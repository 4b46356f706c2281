/** The subject of a tool call: a position on the wall, a size, a picture. Pure. */

import { parseArea, type Area, type AreaSize } from '../../shared/area.ts'
import type { PaintedBlocks } from '../../shared/contract/picture.ts'
import type { Preview } from '../../shared/contract/preview.ts'
import type { Spaces } from '../../shared/contract/space.ts'
import type { WalletStanding } from '../../shared/contract/wallet.ts'
import { BLOCK_SIZE, getCell, isBlockIndex, parseCoord, type BlockIndex, type Cell } from '../../shared/wall.ts'

/** The subject of a call; if `size` is undefined, the subject is the whole wall. */
export type Proposal = {
  readonly size: AreaSize | undefined
  readonly at: Cell | undefined // of the top left block; undefined while it has no position
  readonly indices: Uint8Array | undefined // of the picture: one palette index per pixel, row-major
  readonly mine: ReadonlySet<BlockIndex> // blocks of the wallet in the call
}

/** The arguments of a call and the object that the wall returned, as the host passes them on. */
export type ToolCall = {
  readonly given: Readonly<Record<string, unknown>>
  readonly answered: Readonly<Record<string, unknown>>
}

/** The proposal for the whole wall. */
export const WHOLE_WALL: Proposal = { size: undefined, at: undefined, indices: undefined, mine: new Set() }

// A member of the result identifies the tool, because hosts need not send the tool's name.
const readers: ReadonlyArray<readonly [member: string, read: (call: ToolCall) => Proposal]> = [
  ['acceptable', readPreview],
  ['spaces', readSpaces],
  ['wallet', readWallet],
  ['blocks', readPicture],
]

/** The subject of a call. */
export function parseProposal(call: ToolCall): Proposal {
  const [, read] = readers.find(([member]) => member in call.answered) ?? []
  return read?.(call) ?? WHOLE_WALL
}

function readPreview({ given, answered }: ToolCall): Proposal {
  const { area, block } = answered as Pick<Preview, 'area' | 'block'>
  const whole = area === null ? undefined : parseArea(area)
  const at = block === null ? undefined : parseCoord(block.coord)
  const size = whole ?? { w: readIntegerOr(given['w'], 1), h: readIntegerOr(given['h'], 1) }
  return createPlacedProposal({ ...size, at: at === undefined ? undefined : getCell(at) }, readGivenPicture(given))
}

function readSpaces({ answered }: ToolCall): Proposal {
  const { w, h, spaces } = answered as Spaces
  const at = parseCoord(spaces[0]?.coord ?? '')
  return createPlacedProposal({ w, h, at: at === undefined ? undefined : getCell(at) })
}

/**
 * The first area of a wallet, or else the wallet's first block, or else the whole wall; `mine` contains all the
 * wallet's blocks.
 */
function readWallet({ answered }: ToolCall): Proposal {
  const { areas, blocks } = answered as Pick<WalletStanding, 'areas' | 'blocks'>
  const mine = new Set(blocks.map(({ block }) => block.index).filter(isBlockIndex))
  const [first] = mine
  const area = areas.map(({ area }) => parseArea(area)).find((one) => one !== undefined)
  if (area !== undefined) return { ...createPlacedProposal({ ...area, at: area }), mine }
  return first === undefined ? WHOLE_WALL : { ...createPlacedProposal({ w: 1, h: 1, at: getCell(first) }), mine }
}

function readPicture({ answered }: ToolCall): Proposal {
  const { w, h, blocks } = answered as Pick<PaintedBlocks, 'w' | 'h' | 'blocks'>
  const indices = new Uint8Array(w * h * BLOCK_SIZE ** 2)
  for (const { dx, dy, px } of blocks)
    parseHex(px).forEach((index, at) => {
      const [x, y] = [dx * BLOCK_SIZE + (at % BLOCK_SIZE), dy * BLOCK_SIZE + Math.floor(at / BLOCK_SIZE)]
      indices[y * w * BLOCK_SIZE + x] = index
    })
  return createPlacedProposal({ w, h, at: undefined }, indices)
}

type Placed = AreaSize & { readonly at: Cell | undefined }

function createPlacedProposal({ w, h, at }: Placed, indices?: Uint8Array): Proposal {
  const isWhole = indices?.length === w * h * BLOCK_SIZE ** 2
  return { size: { w, h }, at, indices: isWhole ? indices : undefined, mine: new Set() }
}

/** The picture in the arguments of a preview: `px` of a block, `pixels` of an area. */
function readGivenPicture({ px, pixels }: ToolCall['given']): Uint8Array | undefined {
  if (typeof px === 'string') return parseHex(px)
  return typeof pixels === 'string' ? parseBase64(pixels) : undefined
}

const parseHex = (hex: string) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))

function parseBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

const readIntegerOr = (value: unknown, other: number) => (Number.isInteger(value) ? Number(value) : other)

/** Text such as `block 80,45` or `area 80,45,4x3`, in the form that tools accept. */
export function formatPlace({ col, row, w, h }: Area): string {
  return w * h === 1 ? `block ${col},${row}` : `area ${col},${row},${w}x${h}`
}
