/** The order in the format that was chosen, to copy or to download. */

import { copyButton, saveFile } from '../../ui/copy-and-save.ts'
import { button, query } from '../../ui/dom.ts'
import { type Component, type Sketch, finished } from '../sketch.ts'
import { dealOf } from './cost-summary.ts'
import { FORMS, type OrderFile, writeOrder } from './export-formats.ts'
import { orderOf } from './order.ts'

const BUYS = 'Your agent buys the whole area in one payment, or nothing. Give your agent:'
const REPAINTS = 'Or let your agent repaint it. Give your agent:'

// The clipboard and the file get all of it; a few pages are enough to look at.
const SHOWN_CHARACTERS_MAX = 6000

// The request of a large picture is too long to be written at each step of a drag.
const REST_MS = 150

/** Follows the sketch and fills the section for agents. */
export function createExportPanel(sketchNow: () => Sketch): Component {
  const section = query('take', HTMLElement)
  const what = query('take-what', HTMLElement)
  const shown = query('paper', HTMLElement)
  const forms = query('forms', HTMLFieldSetElement)

  const orderFile = (): OrderFile | undefined => {
    const order = orderOf(sketchNow(), location.origin)
    const chosen = forms.querySelector<HTMLInputElement>('input:checked')?.value
    return order && writeOrder(order, FORMS.find((form) => form === chosen) ?? 'prompt')
  }
  const save = () => {
    const file = orderFile()
    if (file !== undefined) saveFile(new Blob([file.text], { type: file.type }), file.name)
  }
  const acts = [copyButton('Copy', () => orderFile()?.text ?? ''), button('', ['Download'], save)]
  const show = () => {
    const now = orderFile()
    if (now === undefined) return
    const { text } = now
    shown.textContent = text.length > SHOWN_CHARACTERS_MAX ? `${text.slice(0, SHOWN_CHARACTERS_MAX)}\n…` : text
  }
  let timer: ReturnType<typeof setTimeout> | undefined

  forms.addEventListener('change', show)
  query('paper-acts', HTMLElement).append(...acts)
  return {
    update(next, before) {
      if (next === before) return
      const deal = dealOf(next)
      section.hidden = deal === 'neither'
      what.textContent = deal === 'repaint' ? REPAINTS : BUYS
      // Until the worker has painted the picture again, the text here is of the one before.
      const isReady = finished(next) !== undefined
      for (const act of acts) act.disabled = !isReady
      section.ariaBusy = String(!isReady)
      clearTimeout(timer)
      timer = setTimeout(show, REST_MS)
    },
  }
}
