/** Style, size, place and words, as fields to fill in. */

import { LINK_MAX, MESSAGE_MAX, NAME_MAX, isLink, isPrintable } from '../../shared/text.ts'
import { blockAt, cellOf } from '../../shared/wall.ts'
import { find } from '../ui/dom.ts'
import type { Part, Studio } from './parts.ts'
import { findRoom } from './service.ts'
import { movedTo, withHeight, withWidth, type Sketch, type Words } from './sketch.ts'

const PHOTO = 'It looks like a photograph, which dithering suits.'
const DRAWN = 'It looks drawn, and keeps its edges without dithering.'

const FITS = ['cover', 'contain', 'fill'] as const
const DITHERS = ['none', 'floyd-steinberg'] as const
const NUMBERS = ['w', 'h', 'col', 'row'] as const
const WORDS = ['message', 'link', 'name'] as const

/** Reads the fields into the sketch, and shows the sketch in them. */
export function createForm(studio: Studio): Part {
  const style = find('style', HTMLElement)
  const outlook = find('outlook', HTMLElement)
  const kind = find('kind', HTMLElement)
  const numbers = {
    w: find('w', HTMLInputElement),
    h: find('h', HTMLInputElement),
    col: find('col', HTMLInputElement),
    row: find('row', HTMLInputElement),
  }
  const changes: Readonly<Record<(typeof NUMBERS)[number], (sketch: Sketch, value: number) => Sketch>> = {
    w: withWidth,
    h: withHeight,
    col: (sketch, col) => movedTo(sketch, { ...sketch.at, col }),
    row: (sketch, row) => movedTo(sketch, { ...sketch.at, row }),
  }
  const valuesOf = ({ size, at }: Sketch) => ({ ...size, ...at })
  const fill = (sketch: Sketch) => {
    const values = valuesOf(sketch)
    // A field that is being typed in stays as it is.
    for (const key of NUMBERS)
      if (document.activeElement !== numbers[key] || numbers[key].valueAsNumber !== values[key])
        numbers[key].value = `${values[key]}`
  }
  for (const key of NUMBERS) {
    const input = numbers[key]
    input.addEventListener('input', () => {
      if (input.validity.valid) studio.setSketch(changes[key](studio.sketch(), input.valueAsNumber))
    })
    input.addEventListener('change', () => fill(studio.sketch()))
  }
  followStyle(studio)
  followWords(studio)
  followRoom(studio)
  return {
    update(next, before) {
      style.hidden = next.picture === undefined
      outlook.hidden = !style.hidden
      if (next.picture !== before.picture) kind.textContent = next.picture?.isPhoto ? PHOTO : DRAWN
      if (next.style !== before.style) find('dither', HTMLSelectElement).value = next.style.dither
      if (next.size !== before.size || next.at !== before.at || next.picture !== before.picture) fill(next)
    },
  }
}

function followStyle(studio: Studio) {
  const shape = find('shape', HTMLInputElement)
  const fit = find('fit-how', HTMLSelectElement)
  const dither = find('dither', HTMLSelectElement)
  const background = find('background', HTMLInputElement)
  const change = () => {
    const sketch = studio.sketch()
    const style = {
      fit: FITS.find((name) => name === fit.value) ?? 'cover',
      dither: DITHERS.find((name) => name === dither.value) ?? 'none',
      background: background.value,
    }
    const ownDither = sketch.ownDither || style.dither !== sketch.style.dither
    studio.setSketch({ ...sketch, style, ownDither, keepsShape: shape.checked })
  }
  for (const field of [shape, fit, dither, background]) field.addEventListener('input', change)
}

const rules: Readonly<Record<keyof Words, { isGood(text: string): boolean; words: string }>> = {
  message: {
    isGood: (text) => isPrintable(text, MESSAGE_MAX),
    words: `The message has to be 1 to ${MESSAGE_MAX} visible characters.`,
  },
  link: { isGood: isLink, words: `The link has to be an https address of at most ${LINK_MAX} characters.` },
  name: {
    isGood: (text) => isPrintable(text, NAME_MAX),
    words: `The name has to be 1 to ${NAME_MAX} visible characters.`,
  },
}

function followWords(studio: Studio) {
  const told = find('words-flaw', HTMLElement)
  const fields = {
    message: find('message', HTMLInputElement),
    link: find('link', HTMLInputElement),
    name: find('name', HTMLInputElement),
  }
  const change = () => {
    const wrong = WORDS.filter((key) => fields[key].value !== '' && !rules[key].isGood(fields[key].value))
    for (const key of WORDS) fields[key].ariaInvalid = String(wrong.includes(key))
    told.textContent = wrong.map((key) => rules[key].words).join(' ')
    const text = (key: keyof Words) => (wrong.includes(key) ? '' : fields[key].value)
    studio.setSketch({
      ...studio.sketch(),
      words: { name: text('name'), message: text('message'), link: text('link') },
    })
  }
  for (const key of WORDS) fields[key].addEventListener('change', change)
}

function followRoom(studio: Studio) {
  const told = find('room-told', HTMLElement)
  const search = async () => {
    told.textContent = 'Looking …'
    told.textContent = await goToRoom(studio, true)
  }
  find('room', HTMLButtonElement).addEventListener('click', () => void search())
  find('look', HTMLButtonElement).addEventListener('click', studio.lookAtPicture)
}

/** Moves the picture to the nearest place that is wholly open, near where it is or near the wall's centre; answers in words. */
export async function goToRoom(studio: Studio, nearby: boolean): Promise<string> {
  const { at, size } = studio.sketch()
  const near = nearby ? blockAt(at.col + (size.w >> 1), at.row + (size.h >> 1)) : undefined
  try {
    const room = await findRoom(size, near)
    if (room === undefined) return `Nowhere are ${size.w} × ${size.h} blocks open side by side.`
    studio.setSketch(movedTo(studio.sketch(), cellOf(room)))
    studio.lookAtPicture()
    return ''
  } catch {
    return 'The wall could not be asked for room. Try again.'
  }
}
