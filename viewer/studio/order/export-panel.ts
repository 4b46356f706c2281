/** The export of the order: one primary button, and further buttons for other formats and a link to the plan. */

import { createCopyButton, saveFile } from '../../ui/copy-and-save.ts'
import { createButton, queryElement } from '../../ui/dom.ts'
import { LINK_MAX, writePlan } from '../plan.ts'
import { type Component, type Sketch, getArea, findFinishedPicture } from '../sketch.ts'
import { chooseDeal } from './cost-summary.ts'
import { FORMS, needsFile, renderOrder } from './export-formats.ts'
import { createOrder } from './order.ts'

const BUYS = 'Your agent buys the whole area in one payment, or nothing.'
const REPAINTS = 'Or let your agent repaint the area.'
const COPY = 'Copy the order and paste it into a message to your agent. The order contains the picture.'
const ATTACH = 'Download the order and attach the file to a message to your agent. The file contains the picture.'
const TOO_LONG = `This plan is too large for a link of ${LINK_MAX} characters. Send the downloaded order instead.`

// The clipboard and the file get the whole text; the page shows at most this many characters of it.
const SHOWN_CHARACTERS_MAX = 6000

// The request is written only after this pause, because a large one takes too long to write at each step of a drag.
const REST_MS = 150

/** Follows the sketch and fills the section for agents. */
export function createExportPanel(sketchNow: () => Sketch): Component {
  const section = queryElement('take', HTMLElement)
  const what = queryElement('take-what', HTMLElement)
  const shown = queryElement('paper', HTMLElement)
  const forms = queryElement('forms', HTMLFieldSetElement)
  const planStatus = queryElement('plan-status', HTMLElement)
  let plan: string | undefined

  const readChosenForm = () =>
    FORMS.find((form) => form === forms.querySelector<HTMLInputElement>('input:checked')?.value)
  const createOrderFile = () => {
    const order = createOrder(sketchNow(), location.origin)
    const form = readChosenForm() ?? 'prompt'
    return order && { ...renderOrder(order, form), isAttached: form === 'prompt' && needsFile(order) }
  }
  const saveOrder = () => {
    const file = createOrderFile()
    if (file !== undefined) saveFile(new Blob([file.text], { type: file.type }), file.name)
  }
  const copy = createCopyButton('Copy the order', () => createOrderFile()?.text ?? '')
  const attach = createButton('', ['Download the order'], saveOrder)
  const download = createButton('', ['Download'], saveOrder)
  const link = createCopyButton('Copy link to this plan', () => `${location.origin}${location.pathname}${plan ?? ''}`)
  const acts = [copy, attach, download, link]

  const showOrder = async () => {
    const sketch = sketchNow()
    const now = createOrderFile()
    if (now === undefined) return
    const { text, isAttached } = now
    shown.textContent = text.length > SHOWN_CHARACTERS_MAX ? `${text.slice(0, SHOWN_CHARACTERS_MAX)}\n…` : text
    what.textContent = `${chooseDeal(sketch) === 'repaint' ? REPAINTS : BUYS} ${isAttached ? ATTACH : COPY}`
    copy.hidden = isAttached
    attach.hidden = !isAttached
    download.hidden = isAttached
    const { indices = new Uint8Array() } = findFinishedPicture(sketch) ?? {}
    const written = await writePlan({ area: getArea(sketch), words: sketch.words, indices })
    if (sketch !== sketchNow()) return
    plan = written
    link.hidden = plan === undefined
    planStatus.textContent = plan === undefined ? TOO_LONG : ''
  }
  let timer: ReturnType<typeof setTimeout> | undefined

  forms.addEventListener('change', () => void showOrder())
  queryElement('hand-over', HTMLElement).append(copy, attach)
  queryElement('paper-acts', HTMLElement).append(download, link)
  return {
    update(next, before) {
      if (next === before) return
      const deal = chooseDeal(next)
      section.hidden = deal === 'neither'
      // Until the worker has painted the picture again, the shown request has the previous picture.
      const isReady = findFinishedPicture(next) !== undefined
      for (const act of acts) act.disabled = !isReady || deal === 'neither'
      for (const act of [copy, attach]) act.classList.toggle('loud', deal === 'buy')
      section.ariaBusy = String(!isReady)
      clearTimeout(timer)
      timer = setTimeout(() => void showOrder(), REST_MS)
    },
  }
}
