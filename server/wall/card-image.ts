/** Cards as PNGs. */

import { keptOrMade, lru } from '../../shared/lru.ts'
import { COLS, ROWS } from '../../shared/wall.ts'
import { failure, type Failure } from '../domain/failure.ts'
import { drawCard, wallSideFor, type CardSubject } from '../domain/picture/card.ts'
import type { Bitmap } from '../domain/picture/picture.ts'
import { drawRegion, WHOLE_WALL } from '../domain/picture/wall-picture.ts'
import type { Offer } from '../x402/terms.ts'
import { imageCache, type ImageDeps, type WallImage } from './wall-image.ts'

export type CardImages = {
  /** The card of a subject; refused for an agent that there is not, and while too many wait. */
  draw(subject: CardSubject): Promise<WallImage | Failure>
}

// A card has some 50 kB.
const KEPT_MAX = 64

// The wall stands in two sizes on cards.
const SMALL_WALLS_MAX = 2

/** Draws cards. The wall is made small once for all of them, until it changes. */
export function cardImages({
  view,
  pictures,
  offer,
}: ImageDeps & { readonly offer: Pick<Offer, 'title' | 'terms'> }): CardImages {
  const words = { title: offer.title, price: offer.terms.amount }
  const cards = imageCache(view, KEPT_MAX)
  const smallWalls = lru<string, Promise<Bitmap>>(SMALL_WALLS_MAX)

  const smallWall = (side: number) =>
    keptOrMade(smallWalls, `${view.number} ${side}`, () =>
      pictures.shrink(drawRegion(view, WHOLE_WALL), COLS * side, ROWS * side),
    )
  return {
    async draw(subject) {
      if (subject.kind === 'agent' && view.agents[subject.agent - 1] === undefined)
        return failure('not_found', 'No agent has this number: there are as many as the canvas read counts.')
      return await cards(Object.values(subject).join(), async () => {
        const side = wallSideFor(view, subject)
        const wall = side === undefined ? undefined : await smallWall(side)
        return await pictures.encode(drawCard(view, words, subject, wall))
      })
    },
  }
}
