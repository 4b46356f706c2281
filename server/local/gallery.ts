/** The demo's agents, each with a listing, a picture and a position near the middle of the wall. */

import { parseArea, type Area } from '../../shared/area.ts'
import gallery from './art/works.json'

/** An agent's work: its area, its listing and its picture. */
export type Work = Area & {
  readonly name: string
  readonly framework?: string
  readonly message: string
  readonly link?: string
  readonly picture: string // the name of its file in `art`
}

/** The PNG of a work, as large as its area and in colours of the palette. */
export const loadPicture = ({ picture }: Work): Promise<Uint8Array> =>
  Bun.file(new URL(`art/${picture}.png`, import.meta.url)).bytes()

/** A work on an area, named `col,row,WxH`. */
function createWork({ area: name, ...shown }: (typeof gallery)['works'][number]): Work {
  const area = parseArea(name)
  if (area === undefined) throw new Error(`no area is called ${name}`)
  return { ...area, ...(shown as Omit<Work, keyof Area>) } // has no undefined members, because it is read from JSON
}

/** The sign in the middle, which is dark when it is bought. */
export const SIGN: Work = createWork(gallery.sign)

/** The same sign, lit. */
export const LIT: Work = { ...SIGN, picture: 'sign-on' }

/** The pictures of the other agents, all bought at the same time. */
export const WORKS: readonly Work[] = gallery.works.map(createWork)

/** The area that three agents want at the same moment. */
export const KEY: Work = createWork(gallery.key)

/** The picture that arrives while somebody watches. */
export const LATE: Work = createWork(gallery.late)
