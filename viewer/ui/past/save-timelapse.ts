/** A button that makes a timelapse of the wall, or of the open artwork, and saves it. */

import { formatCoord, isBlockIndex } from '../../../shared/wall.ts'
import type { Page } from '../../page.ts'
import { type State, findOpenWork } from '../../state.ts'
import { computeBounds } from '../../wall/artworks.ts'
import type { Step, TimelapseInput } from '../../wall/timelapse.ts'
import { saveFile } from '../copy-and-save.ts'
import { createButton } from '../dom.ts'
import type { TimelapseMessage } from './timelapse-worker.ts'

/** The button, which is disabled until the history has been read; `close` cancels a timelapse in progress. */
export function createSaveTimelapse(page: Page) {
  let worker: Worker | undefined
  const element = createButton('film', [''], () => (worker === undefined ? startSaving() : stopSaving()))
  const updateLabel = (state: State) => {
    if (worker !== undefined) return
    element.textContent = findOpenWorkCoord(state) === undefined ? 'Save GIF of the wall' : 'Save GIF of this artwork'
    element.disabled = state.history === undefined || state.history.changes.length === 0
  }
  const stopSaving = () => {
    worker?.terminate()
    worker = undefined
    updateLabel(page.getState())
  }
  const startSaving = () => {
    const state = page.getState()
    const subject = findOpenWorkCoord(state)
    worker = new Worker(new URL('./timelapse-worker.ts', import.meta.url), { type: 'module', name: 'timelapse-worker' })
    worker.addEventListener('message', ({ data }: MessageEvent<TimelapseMessage>) => {
      if ('share' in data) return void (element.textContent = `${Math.round(100 * data.share)}% · Stop`)
      saveFile(data.file, subject === undefined ? 'pixel-wall.gif' : `pixel-wall-work-${subject.replace(',', '-')}.gif`)
      stopSaving()
    })
    worker.addEventListener('error', stopSaving)
    element.textContent = '0% · Stop'
    worker.postMessage(createTimelapseInput(page, state))
  }
  return { element, update: updateLabel, close: stopSaving }
}

function findOpenWorkCoord(state: State): string | undefined {
  const [first] = findOpenWork(state)
  return first === undefined ? undefined : formatCoord(first)
}

function createTimelapseInput(page: Page, state: State): TimelapseInput {
  const work = findOpenWork(state)
  const own = new Set<number>(work)
  const steps = (state.history?.changes ?? []).flatMap(({ i, px }): Step[] =>
    isBlockIndex(i) && (own.size === 0 || own.has(i)) ? [{ block: i, px }] : [],
  )
  return { steps, area: computeBounds(work), theme: page.appearance.getTheme() }
}
