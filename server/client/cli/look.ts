import { listAreaBlocks, parseArea } from '../../../shared/area.ts'
import { formatAmount } from '../../../shared/money.ts'
import { formatCoord, parseCoord } from '../../../shared/wall.ts'
import { formatWallet } from '../../../shared/wallet.ts'
import type { ChangeDto, Deed, Failure, Reset, Wall, WalletStanding } from '../wall.ts'
import { type Command, UsageError } from './command.ts'
import { drawWall } from './wall-drawing.ts'

const ACROSS = 7
const DOWN = 4

/** `pixel-wall look`: shows the wall, or one block of it, in the terminal. */
export const look: Command = {
  summary: 'shows the middle of the wall, or a block and who owns it',
  usage: '[col,row]',
  options: {},
  argumentsMax: 1,
  async run({ args: [coord], openForReading, print }) {
    const wall = openForReading()
    if (coord === undefined) {
      const canvas = await wall.canvas()
      const { stats, pricing } = canvas
      const sold = `${stats.claimed} blocks sold, ${stats.remaining} open at ${pricing.perBlock} ${pricing.asset} each.`
      return print({ stats, pricing }, [sold], drawWall(canvas, ACROSS, DOWN))
    }
    const block = parseCoord(coord)
    if (block === undefined) throw new UsageError('Give a block as col,row: 0,0 to 159,89.')
    const [deed, canvas] = await Promise.all([wall.block(coord), wall.canvas()])
    const lines = deed === undefined ? [`Block ${coord} is not sold.`] : formatDeed(deed)
    print(deed ?? { block: { coord, index: block }, state: 'open' }, lines, drawWall(canvas, ACROSS, DOWN, block))
  },
}

const formatDeed = ({ block, owner, message, link }: Deed): readonly string[] => [
  `Block ${block.coord} belongs to ${owner.name ?? owner.wallet}${owner.framework === null ? '' : ` (${owner.framework})`}.`,
  ...[message, link].filter((text) => text !== null),
]

/** `pixel-wall mine`: lists a wallet's blocks, unfinished purchases and credits. */
export const mine: Command = {
  summary: 'lists your wallet’s blocks, unfinished purchases and credits',
  usage: '',
  options: { wallet: 'the address of the wallet, instead of a key' },
  argumentsMax: 0,
  async run({ options: { wallet }, openForReading, openAsOwner, print }) {
    const wall = wallet === undefined ? await openAsOwner() : openForReading()
    const standing = await readWholeStanding(wall, wallet)
    if (standing === undefined)
      return print({ blocks: [], open: [], credits: [] }, ['This wallet has not bought anything here yet.'])
    const { wallet: address, name, blocks, areas, open, credits } = standing
    const ofAreas = new Set(areas.flatMap(({ area }) => listCoords(area)))
    const single = blocks.filter(({ block }) => !ofAreas.has(block.coord))
    print(standing, [
      `${name ?? address} owns ${blocks.length === 1 ? 'one block' : `${blocks.length} blocks`}.`,
      ...areas.map(({ area, tx }) => `  area ${area}, paid in ${tx}`),
      ...single.map(({ block, tx }) => `  ${block.coord}, paid in ${tx}`),
      ...open.map(({ target, next }) => `Unfinished: ${target}. ${next}`),
      ...credits.map(({ amount, tx }) => `Owed to you: ${formatAmount(BigInt(amount))}, paid in ${tx}.`),
    ])
  },
}

/** The coordinates of an area's blocks. */
function listCoords(name: string): readonly string[] {
  const area = parseArea(name)
  return area === undefined ? [] : listAreaBlocks(area).map(formatCoord)
}

/**
 * A wallet's standing with the blocks and areas of all pages (one area may be on two pages), and the whole address.
 */
async function readWholeStanding(wall: Wall, wallet = wall.address()): Promise<WalletStanding | undefined> {
  const standing = await wall.wallet(wallet)
  if (standing === undefined) return undefined
  const blocks = [...standing.blocks]
  const areas = new Map(standing.areas.map((area) => [area.area, area]))
  for (let page: WalletStanding | undefined = standing; page?.hasMore === true;) {
    page = await wall.wallet(wallet, page.nextAfter)
    blocks.push(...(page?.blocks ?? []))
    for (const area of page?.areas ?? []) areas.set(area.area, area)
  }
  return { ...standing, wallet: formatWallet(wallet), blocks, areas: [...areas.values()], hasMore: false }
}

/** `pixel-wall watch`: prints every sale, repaint and new name as it happens, until the command is stopped. */
export const watch: Command = {
  summary: 'prints every sale, repaint and new name as it happens',
  usage: '',
  options: { after: 'start after the change with this number' },
  argumentsMax: 0,
  async run({ options: { after }, openForReading, print, printProgress }) {
    if (after !== undefined && !/^\d{1,15}$/.test(after))
      throw new UsageError('--after must be the number of a change.')
    const wall = openForReading()
    const followed = {
      after: after === undefined ? undefined : Number(after),
      onConnect: () => printProgress(`Connected to ${wall.url.origin}. Waiting for changes.`),
      onLost: ({ message }: Failure) => printProgress(`${message} Trying again every 2 seconds.`),
    }
    for await (const change of wall.follow(followed)) print(change, [formatChange(change)])
  },
}

function formatChange(change: ChangeDto | Reset): string {
  switch (change.kind) {
    case 'sale':
      return `${change.number}: block ${change.coord} sold to ${change.agent.name ?? change.agent.wallet}`
    case 'repaint':
      return `${change.number}: block ${change.coord} repainted${change.m === undefined ? '' : `: ${change.m}`}`
    case 'identity':
      return `${change.number}: agent ${change.agent.id} ${describeName(change.agent.name)}`
    case 'reset':
      return `${change.number}: too many changes were missed; read the canvas, which shows everything up to here`
  }
}

const describeName = (name: string | null) => (name === null ? 'has no name now' : `is called ${name}`)
