/** The handle of a label that is a sheet from below, as on a phone: it lifts and lowers the sheet by a press or a pull. */

import { button } from '../dom.ts'

// A pull shorter than this many CSS pixels is a press.
const PULL_PX = 24

export type Handle = {
  readonly element: HTMLElement
  /** Brings the sheet to its lower height. */
  lower(): void
}

/** A handle for a sheet; pulled down from its lower height, it calls `letGo`. */
export function createHandle(sheet: HTMLElement, letGo: () => void): Handle {
  const show = (lifted: boolean) => {
    sheet.classList.toggle('lifted', lifted)
    element.ariaExpanded = String(lifted)
  }
  const isLifted = () => sheet.classList.contains('lifted')
  let from: number | undefined
  let pulled = false
  const element = button('handle', [], () => {
    if (!pulled) show(!isLifted())
    pulled = false
  })
  element.ariaLabel = 'All of the label'
  element.addEventListener('pointerdown', (event) => {
    from = event.clientY
    element.setPointerCapture(event.pointerId)
  })
  element.addEventListener('pointerup', (event) => {
    const way = event.clientY - (from ?? event.clientY)
    from = undefined
    pulled = Math.abs(way) >= PULL_PX
    if (!pulled) return
    if (way < 0) show(true)
    else if (isLifted()) show(false)
    else letGo()
  })
  show(false)
  return { element, lower: () => show(false) }
}
