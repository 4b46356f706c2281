/** Cards as PNGs. */

import pLimit from 'p-limit'
import { keptOrMade, lru } from '../../shared/lru.ts'
import { COLS, ROWS } from '../../shared/wall.ts'
import { failure, type Failure } from '../domain/failure.ts'
import { drawCard, wallSideFor, type CardSubject } from '../domain/picture/card.ts'
import type { Bitmap } from '../domain/picture/picture.ts'
import { drawRegion, WHOLE_WALL } from '../domain/picture/wall-picture.ts'
import { busy } from '../domain/purchase/refusals.ts'
import type { LogNumber } from '../domain/wall/log.ts'
import { stateOf } from '../domain/wall/wall-view.ts'
import type { Offer } from '../x402/terms.ts'
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
export function cardImages({
  view,
  pictures,
  offer,
}: Drawing & { readonly offer: Pick<Offer, 'title' | 'terms'> }): CardImages {
  const words = { title: offer.title, price: offer.terms.amount }
  const limit = pLimit(AT_ONCE)
  const cards = lru<string, Promise<WallImage>>(KEPT_MAX)
  const walls = lru<number, Promise<Bitmap>>(KEPT_MAX)
  let keptNumber: LogNumber = -1

  const small = (side: number) => pictures.shrink(drawRegion(view, WHOLE_WALL), COLS * side, ROWS * side)
  const make = (subject: CardSubject) =>
    limit(async (): Promise<WallImage> => {
      const state = stateOf(view)
      const side = wallSideFor(view, subject)
      const wall = side === undefined ? undefined : await keptOrMade(walls, side, () => small(side))
      return { state, png: await pictures.encode(drawCard(view, words, subject, wall)) }
    })

  return {
    async draw(subject) {
      if (subject.kind === 'agent' && view.agents[subject.agent - 1] === undefined)
        return failure('not_found', 'No agent has this number: there are as many as the canvas read counts.')
      if (keptNumber !== view.number) for (const kept of [cards, walls]) kept.clear()
      keptNumber = view.number
      const key = Object.values(subject).join()
      if (cards.get(key) === undefined && limit.pendingCount >= WAITING_MAX) return busy()
      return await keptOrMade(cards, key, () => make(subject))
    },
  }
}
