/**
 * The four steps of this page: the picture, its position, its texts, and the export. Only one step is shown at a time.
 */

import { queryElement } from '../ui/dom.ts'
import { isSoldOut } from '../wall/wall-model.ts'
import { chooseDeal } from './order/cost-summary.ts'
import type { Sketch } from './sketch.ts'

const STEPS = ['picture', 'place', 'words', 'deal'] as const
type Step = (typeof STEPS)[number]

/** Shows one step, and switches between the steps with the buttons. */
export function createSteps() {
  const sections = STEPS.map((step) => queryElement(step, HTMLElement))
  const tabs = STEPS.map((step) => queryElement(`to-${step}`, HTMLButtonElement))
  const [back, next] = [queryElement('back', HTMLButtonElement), queryElement('next', HTMLButtonElement)]
  const panel = queryElement('panel', HTMLElement)
  const handOver = queryElement('hand-over', HTMLElement)
  const room = queryElement('room', HTMLButtonElement)
  let current = 0
  let isBlocked = false // whether the picture can be neither bought nor repainted at its position
  let isFull = false // whether every block is sold, so that no other position is available either

  // The primary button leads to the next step, or to another position if the picture's position is blocked.
  const markPrimaryButton = () => {
    next.classList.toggle('loud', !isFull && (!isBlocked || current === 0))
    room.classList.toggle('loud', isBlocked)
  }

  const selectStep = (at: number) => {
    current = at
    for (const [i, section] of sections.entries()) section.hidden = i !== at
    for (const [i, tab] of tabs.entries()) tab.ariaCurrent = i === at ? 'step' : null
    back.hidden = at === 0
    next.hidden = at === STEPS.length - 1
    handOver.hidden = !next.hidden
    next.textContent = `Next: ${tabs[at + 1]?.dataset['name'] ?? ''}`
    panel.scrollTop = 0
    markPrimaryButton()
  }
  // The focus goes to the heading: a screen reader reads it, and the button that had the focus may be gone.
  const showStep = (at: number) => {
    selectStep(at)
    sections[at]?.querySelector<HTMLElement>('h2')?.focus({ preventScroll: true })
  }
  for (const [i, tab] of tabs.entries()) tab.addEventListener('click', () => showStep(i))
  back.addEventListener('click', () => showStep(current - 1))
  next.addEventListener('click', () => showStep(current + 1))
  selectStep(0)
  return {
    goToStep: (step: Step) => selectStep(STEPS.indexOf(step)),
    update(sketch: Sketch) {
      for (const button of [...tabs.slice(1), next]) button.disabled = sketch.picture === undefined
      isBlocked = sketch.wall?.complete === true && chooseDeal(sketch) === 'neither'
      isFull = isBlocked && isSoldOut(sketch.wall)
      markPrimaryButton()
    },
  }
}
