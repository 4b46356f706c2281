import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ChangeDto } from '../../../../shared/contract/live.ts'
import { formatCoord } from '../../../../shared/wall.ts'
import { applyChanges } from '../../../../viewer/data/apply-updates.ts'
import { createState, selectShownWall, reduceState } from '../../../../viewer/state.ts'
import { findArtwork } from '../../../../viewer/wall/artworks.ts'
import { createTexture, readPicture } from '../../../../viewer/wall/pixel-buffer.ts'
import { createHistory, rebuildPast, type Past } from '../../../../viewer/wall/wall-history.ts'
import { requireBlockAt, canvas as sample, buildSampleWall } from '../../../support/page/sample-wall.ts'

const nobodys = buildSampleWall({
  ...sample,
  agents: [],
  blocks: [],
  stats: { ...sample.stats, claimed: 0, agents: 0, lastClaimedAt: null, lastSaleId: 0 },
})
const agent = { id: 1, name: 'Ada', wallet: '0x1234…abcd', framework: null }
const blocks = [requireBlockAt(0, 0), requireBlockAt(5, 5), requireBlockAt(159, 89)] as const
const createColour = (index: number) => new Uint8Array(100).fill(index).toBase64()

/** The change with this number, which is also its time: a sale if `seq` is given, otherwise a repaint. */
function createChange(number: number, block: (typeof blocks)[number], seq: number | undefined): ChangeDto {
  const shown = {
    number,
    t: number,
    i: block,
    coord: formatCoord(block),
    m: `change ${number}`,
    px: createColour(number),
  }
  return seq === undefined ? { kind: 'repaint', ...shown } : { kind: 'sale', seq, agent, ...shown }
}

function createLog(order: readonly (typeof blocks)[number][]): ChangeDto[] {
  const sold = new Set<number>()
  return order.map((block, n) => {
    const isSold = sold.has(block)
    sold.add(block)
    return createChange(n + 1, block, isSold ? undefined : sold.size)
  })
}

const createFreshWall = () => ({ ...nobodys, texture: createTexture(), claims: new Map() })

test('a moment in the history shows the result of all changes until then, whether it is reached forwards or backwards', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...blocks), { minLength: 1, maxLength: 12 }),
      fc.array(fc.nat({ max: 13 }), { minLength: 1, maxLength: 5 }),
      (order, moments) => {
        const log = createLog(order)
        const present = applyChanges(createFreshWall(), log)
        const history = createHistory(log, log.length)
        let past: Past | undefined
        for (const moment of moments) {
          past = rebuildPast(present, history, moment, past)
          const then = applyChanges(createFreshWall(), log.slice(0, moment))
          for (const block of blocks) {
            expect(readPicture(past.wall.texture, block)).toEqual(readPicture(then.texture, block))
            expect(findArtwork(past.wall, block, moment)?.message).toEqual(findArtwork(then, block)?.message)
          }
        }
      },
    ),
    { numRuns: 25 },
  )
})

test('looking at the history does not change the present', () => {
  const log = createLog([blocks[0], blocks[0]])
  const wall = applyChanges(createFreshWall(), log)
  const remembering = reduceState(
    { ...createState({ width: 100, height: 100 }), wall },
    { do: 'history-loaded', history: createHistory(log, 2) },
  )
  const then = reduceState(remembering, { do: 'seek', at: 1 })
  expect(readPicture(selectShownWall(then)?.texture ?? createTexture(), blocks[0])).toEqual(
    Uint8Array.fromBase64(createColour(1)),
  )
  const now = reduceState(then, { do: 'seek', at: undefined })
  expect(selectShownWall(now)).toBe(wall)
  expect(readPicture(wall.texture, blocks[0])).toEqual(Uint8Array.fromBase64(createColour(2)))
})
