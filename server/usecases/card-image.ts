/** Cards as PNGs. */

import pLimit from 'p-limit'
import { PALETTE } from '../../shared/palette.ts'
import { COLS, ROWS } from '../../shared/wall.ts'
import { drawCard, wallSideFor, type CardSubject } from '../domain/card.ts'
import { failure, type Failure } from '../domain/failure.ts'
import type { LogNumber } from '../domain/log.ts'
import type { Bitmap } from '../domain/picture.ts'
import { busy } from '../domain/refusals.ts'
import { drawRegion, WHOLE_WALL } from '../domain/wall-picture.ts'
import { stateOf } from '../domain/wall-view.ts'
import type { Drawing, WallImage } from './wall-image.ts'

export type CardImages = {
  /** The card of a subject; refused for an agent that there is not, and while too many wait. */
  draw(subject: CardSubject): Promise<WallImage | Failure>
}

const AT_ONCE = 2
const WAITING_MAX = 32

// A card has some 50 kB.
const KEPT_MAX = 64

/** Draws cards and keeps the latest, each until the wall changes. The wall is made small once for all of them. */
export function cardImages({ view, pictures }: Drawing): CardImages {
  const limit = pLimit(AT_ONCE)
  const cards = new Map<string, Promise<WallImage | undefined>>()
  const walls = new Map<number, Promise<Bitmap | undefined>>()
  let keptNumber: LogNumber = -1

  const small = async (side: number): Promise<Bitmap | undefined> => {
    const wall = drawRegion(view, WHOLE_WALL)
    const { width, height } = wall
    const plan = {
      width: COLS * side,
      height: ROWS * side,
      fit: 'fill',
      dither: 'none',
      background: '#000000',
    } as const
    const painted = await pictures.paint({ kind: 'raw', bytes: coloursOf(wall), width, height }, plan)
    return typeof painted === 'string' ? undefined : painted
  }
  const make = (subject: CardSubject) =>
    limit(async (): Promise<WallImage | undefined> => {
      const state = stateOf(view)
      const side = wallSideFor(view, subject)
      const wall = side === undefined ? undefined : await shared(walls, side, () => small(side))
      if (side !== undefined && wall === undefined) return undefined
      return { state, png: await pictures.encode(drawCard(view, subject, wall)) }
    })

  return {
    async draw(subject) {
      if (subject.kind === 'agent' && view.agents[subject.agent - 1] === undefined)
        return failure('not_found', 'No agent has this number: there are as many as the canvas read counts.')
      if (keptNumber !== view.number) for (const kept of [cards, walls]) kept.clear()
      keptNumber = view.number
      const key = Object.values(subject).join()
      if (!cards.has(key) && limit.pendingCount >= WAITING_MAX) return busy()
      return (await shared(cards, key, () => make(subject))) ?? busy()
    },
  }
}

/** What is kept under a key, or is made now and kept instead of the oldest. What fails is not kept. */
async function shared<Key, Thing>(
  kept: Map<Key, Promise<Thing | undefined>>,
  key: Key,
  make: () => Promise<Thing | undefined>,
): Promise<Thing | undefined> {
  const promise = kept.get(key) ?? make()
  kept.delete(key)
  const [oldest] = kept.keys()
  if (kept.size >= KEPT_MAX && oldest !== undefined) kept.delete(oldest)
  kept.set(key, promise)
  const forget = () => {
    if (kept.get(key) === promise) kept.delete(key)
  }
  const thing = await promise.catch((error: unknown) => {
    forget()
    throw error
  })
  if (thing === undefined) forget()
  return thing
}

const rgb = Uint8Array.from(Buffer.from(PALETTE.map((colour) => colour.slice(1)).join(''), 'hex'))

/** The bare bytes of a picture, three to a pixel. */
function coloursOf({ indices }: Bitmap): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(indices.length * 3)
  for (let i = 0, to = 0; i < indices.length; i++) {
    const from = (indices[i] ?? 0) * 3
    bytes[to++] = rgb[from] ?? 0
    bytes[to++] = rgb[from + 1] ?? 0
    bytes[to++] = rgb[from + 2] ?? 0
  }
  return bytes
}
