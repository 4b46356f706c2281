import { parseCoord } from '../../../shared/wall.ts'
import type { Deed } from '../wall.ts'
import { UsageError, type Command } from './command.ts'
import { drawWall } from './wall-drawing.ts'

const ACROSS = 7
const DOWN = 4

/** `pixel-wall look`: the wall, or a block of it, in the terminal. */
export const look: Command = {
  summary: 'shows the middle of the wall, or a block and who owns it',
  usage: '[col,row]',
  options: {},
  argumentsMax: 1,
  async run({ args: [coord], reader, print }) {
    const wall = reader()
    if (coord === undefined) {
      const canvas = await wall.canvas()
      const { stats, pricing } = canvas
      const sold = `${stats.claimed} blocks sold, ${stats.remaining} open at ${pricing.perBlock} ${pricing.asset} each.`
      return print({ stats, pricing }, [sold], drawWall(canvas, ACROSS, DOWN))
    }
    const block = parseCoord(coord)
    if (block === undefined) throw new UsageError('A block is named col,row: 0,0 to 159,89.')
    const [deed, canvas] = await Promise.all([wall.block(coord), wall.canvas()])
    const lines = deed === undefined ? [`Block ${coord} is not sold.`] : deedLines(deed)
    print(deed ?? { block: { coord, index: block }, state: 'open' }, lines, drawWall(canvas, ACROSS, DOWN, block))
  },
}

const deedLines = ({ block, owner, message, link }: Deed): readonly string[] => [
  `Block ${block.coord} belongs to ${owner.name ?? owner.wallet}${owner.framework === null ? '' : ` (${owner.framework})`}.`,
  ...[message, link].filter((text) => text !== null),
]
