/** The one request in the form that was chosen, to copy or to keep as a file. */

import { copyButton } from '../../ui/copy-button.ts'
import { button, find } from '../../ui/dom.ts'
import { saveFile } from '../../ui/save-file.ts'
import type { Part } from '../parts.ts'
import { finished, type Sketch } from '../sketch.ts'
import { dealOf } from './cost-summary.ts'
import { FORMS, written, type Paper } from './export-formats.ts'
import { orderOf } from './order.ts'

const BUYS = 'Your agent buys all of it in one payment, or nothing. Give it'
const REPAINTS = 'Or let your agent repaint it. Give it'

// The whole of it goes into the clipboard and the file; a few pages are enough to look at.
const SHOWN_CHARACTERS_MAX = 6000

// A large picture's request is too much to write at each step of a drag.
const REST_MS = 150

/** Fills the section with what can be taken away now. */
export function createTake(sketchNow: () => Sketch): Part {
  const section = find('take', HTMLElement)
  const what = find('take-what', HTMLElement)
  const shown = find('paper', HTMLElement)
  const forms = find('forms', HTMLFieldSetElement)

  const paper = (): Paper | undefined => {
    const order = orderOf(sketchNow(), location.origin)
    const chosen = forms.querySelector<HTMLInputElement>('input:checked')?.value
    return order && written(order, FORMS.find((form) => form === chosen) ?? 'prompt')
  }
  const acts = [copyButton('Copy', () => paper()?.text ?? ''), button('', ['Download'], () => save(paper()))]
  const show = () => {
    const now = paper()
    if (now === undefined) return
    const { text } = now
    shown.textContent = text.length > SHOWN_CHARACTERS_MAX ? `${text.slice(0, SHOWN_CHARACTERS_MAX)}\n…` : text
  }
  let timer: ReturnType<typeof setTimeout> | undefined

  forms.addEventListener('change', show)
  find('paper-acts', HTMLElement).append(...acts)
  return {
    update(next, before) {
      if (next === before) return
      const deal = dealOf(next)
      section.hidden = deal === 'neither'
      what.textContent = deal === 'repaint' ? REPAINTS : BUYS
      // While the picture is being painted anew what is written here is of the one before.
      const isReady = finished(next) !== undefined
      for (const act of acts) act.disabled = !isReady
      section.ariaBusy = String(!isReady)
      clearTimeout(timer)
      timer = setTimeout(show, REST_MS)
    },
  }
}

function save(paper: Paper | undefined) {
  if (paper !== undefined) saveFile(new Blob([paper.text], { type: paper.type }), paper.name)
}
