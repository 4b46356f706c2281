/** The form fields for the picture's style, size, position and texts. */

import { LINK_MAX, MESSAGE_MAX, NAME_MAX, isLink, isPrintable } from '../../shared/text.ts'
import { getBlockAt, getCell } from '../../shared/wall.ts'
import { queryElement } from '../ui/dom.ts'
import { findOpenSpace } from './service.ts'
import type { Component, Sketch, Studio, Words } from './sketch.ts'
import { getArea, moveSketch, setHeight, setWidth } from './sketch.ts'

const PHOTO = 'This looks like a photo. Dithering usually suits photos.'
const DRAWN = 'This looks like a drawing. It stays sharper without dithering.'

const FITS = ['cover', 'contain', 'fill'] as const
const DITHERS = ['none', 'floyd-steinberg'] as const

const changes: readonly (readonly ['w' | 'h' | 'col' | 'row', (sketch: Sketch, value: number) => Sketch])[] = [
  ['w', setWidth],
  ['h', setHeight],
  ['col', (sketch, col) => moveSketch(sketch, { ...sketch.at, col })],
  ['row', (sketch, row) => moveSketch(sketch, { ...sketch.at, row })],
]

/** Reads the fields into the sketch, and shows the sketch in them. */
export function createForm(studio: Studio): Component {
  const style = queryElement('style', HTMLElement)
  const outlook = queryElement('outlook', HTMLElement)
  const kind = queryElement('kind', HTMLElement)
  const numbers = changes.map(([key, change]) => [key, change, queryElement(key, HTMLInputElement)] as const)
  const fillFields = (sketch: Sketch) => {
    const values = getArea(sketch)
    // A focused field is not rewritten if its number is already right, because the user may still be typing.
    for (const [key, , input] of numbers)
      if (document.activeElement !== input || input.valueAsNumber !== values[key]) input.value = `${values[key]}`
  }
  for (const [, change, input] of numbers) {
    input.addEventListener('input', () => {
      if (input.validity.valid) studio.setSketch(change(studio.getSketch(), input.valueAsNumber))
    })
    input.addEventListener('change', () => fillFields(studio.getSketch()))
  }
  bindStyle(studio)
  const fillWords = bindTextFields(studio)
  bindSpaceButtons(studio)
  const background = queryElement('background-field', HTMLElement)
  return {
    update(next, before) {
      style.hidden = next.picture === undefined
      outlook.hidden = !style.hidden
      // The background affects only bars and transparent areas.
      background.hidden = next.style.fit !== 'contain' && next.picture?.isClear !== true
      fillWords(next, before)
      if (next.picture !== before.picture) kind.textContent = next.picture?.isPhoto ? PHOTO : DRAWN
      if (next.style !== before.style) {
        queryElement('dither', HTMLSelectElement).value = next.style.dither
        queryElement('fit-how', HTMLSelectElement).value = next.style.fit
      }
      if (next.size !== before.size || next.at !== before.at || next.picture !== before.picture) fillFields(next)
    },
  }
}

function bindStyle(studio: Studio) {
  const shape = queryElement('shape', HTMLInputElement)
  const fit = queryElement('fit-how', HTMLSelectElement)
  const dither = queryElement('dither', HTMLSelectElement)
  const background = queryElement('background', HTMLInputElement)
  const onChange = () => {
    const sketch = studio.getSketch()
    const style = {
      fit: FITS.find((name) => name === fit.value) ?? 'cover',
      dither: DITHERS.find((name) => name === dither.value) ?? 'none',
      background: background.value,
    }
    const ownDither = sketch.ownDither || style.dither !== sketch.style.dither
    studio.setSketch({ ...sketch, style, ownDither, keepsShape: shape.checked })
  }
  for (const field of [shape, fit, dither, background]) field.addEventListener('input', onChange)
}

const createTextRule = (what: string, max: number) => ({
  isValid: (text: string) => isPrintable(text, max),
  flaw: `The ${what} must have 1 to ${max} visible characters.`,
})

const validators: Readonly<Record<keyof Words, { isValid(text: string): boolean; readonly flaw: string }>> = {
  message: createTextRule('message', MESSAGE_MAX),
  link: { isValid: isLink, flaw: `The link must be an https URL of at most ${LINK_MAX} characters.` },
  name: createTextRule('name', NAME_MAX),
}

/** Binds the text fields; returns a function that fills them with texts from elsewhere, such as from a plan. */
function bindTextFields(studio: Studio): Component['update'] {
  let own: Words | undefined // the texts that these fields last set
  const status = queryElement('words-flaw', HTMLElement)
  const fields = (['message', 'link', 'name'] as const).map((key) => ({
    key,
    ...validators[key],
    input: queryElement(key, HTMLInputElement),
  }))
  const change = () => {
    const wrong = fields.filter(({ isValid, input }) => input.value !== '' && !isValid(input.value))
    for (const field of fields) field.input.ariaInvalid = String(wrong.includes(field))
    status.textContent = wrong.map(({ flaw }) => flaw).join(' ')
    const texts = fields.map((field) => [field.key, wrong.includes(field) ? '' : field.input.value] as const)
    const sketch = studio.getSketch()
    own = { ...sketch.words, ...Object.fromEntries(texts) }
    studio.setSketch({ ...sketch, words: own })
  }
  for (const { input } of fields) input.addEventListener('change', change)
  return ({ words }, before) => {
    if (words === before.words || words === own) return
    for (const { key, input } of fields) input.value = words[key]
    change()
  }
}

function bindSpaceButtons(studio: Studio) {
  for (const [id, status] of [
    ['room', queryElement('room-status', HTMLElement)],
    ['other-room', queryElement('other-room-status', HTMLElement)],
  ] as const) {
    const searchSpace = async () => {
      status.textContent = 'Searching…'
      status.textContent = await moveToOpenSpace(studio, true)
    }
    queryElement(id, HTMLButtonElement).addEventListener('click', () => void searchSpace())
  }
  queryElement('look', HTMLButtonElement).addEventListener('click', studio.lookAtPicture)
}

/**
 * Moves the picture to the nearest open space if `nearby`, or else to the open space nearest to the wall's centre;
 * returns a message.
 */
export async function moveToOpenSpace(studio: Studio, nearby: boolean): Promise<string> {
  const { at, size } = studio.getSketch()
  const near = nearby ? getBlockAt(at.col + (size.w >> 1), at.row + (size.h >> 1)) : undefined
  try {
    const room = await findOpenSpace(size, near)
    if (room === undefined) return `There is no available space of ${size.w} × ${size.h} blocks.`
    const to = getCell(room)
    studio.setSketch(moveSketch(studio.getSketch(), to))
    studio.lookAtPicture()
    return to.col === at.col && to.row === at.row
      ? 'All blocks under the picture are available.'
      : `Moved to column ${to.col}, row ${to.row}.`
  } catch {
    return 'Could not search for available space. Try again.'
  }
}
