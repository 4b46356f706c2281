/** The panel with the wall's history: a scrubber over every sale and repaint, and a button that plays them. */

import { formatBlocks } from '../../../shared/money.ts'
import type { Page, PanelContent } from '../../page.ts'
import type { State } from '../../state.ts'
import { formatDate } from '../../wall/formatting.ts'
import { findMomentAfter, listMoments, advancePlayback, countMomentsUntil } from '../../wall/wall-history.ts'
import { createButton, createElement, showText } from '../dom.ts'
import { createSaveTimelapse } from './save-timelapse.ts'

// The longest time by which one frame advances the playback, so that it continues where it stopped if the page was
// suspended.
const STEP_MAX_MS = 100

/** The player, and a button that saves a timelapse. */
export function createTimeline(page: Page): PanelContent {
  const player = createPlayer(page)
  const film = createSaveTimelapse(page)
  return {
    title: 'History',
    body: [...player.elements, film.element],
    update(state, before) {
      player.update(state, before)
      film.update(state)
    },
    close() {
      player.close()
      film.close()
    },
  }
}

function createPlayer(page: Page) {
  let moments = new Float64Array() // moments of sales and repaints; until the history has been read, of sales only
  let sales = moments
  let count = 0 // the number of moments up to the shown one; has a fraction while playing
  let frame: number | undefined
  const scrubber = createElement('input')
  scrubber.type = 'range'
  scrubber.min = '0'
  scrubber.ariaLabel = 'Timeline of sales and repaints'
  const label = createElement('output')
  const play = createButton('play', ['Play'], () => (frame === undefined ? startPlaying() : stopPlaying()))
  const now = createButton('', ['Now'], () => {
    stopPlaying()
    page.dispatch({ do: 'seek', at: undefined })
  })

  const seek = (to: number) => {
    count = to
    page.dispatch({ do: 'seek', at: findMomentAfter(moments, Math.floor(to)) })
  }
  const startPlaying = () => {
    if (count >= moments.length) count = 0
    play.textContent = 'Pause'
    let before = performance.now()
    const playNext = (time: number) => {
      seek(advancePlayback(moments, count, Math.min(time - before, STEP_MAX_MS)))
      before = time
      if (count >= moments.length) return stopPlaying()
      frame = requestAnimationFrame(playNext)
    }
    frame = requestAnimationFrame(playNext)
  }
  const stopPlaying = () => {
    if (frame !== undefined) cancelAnimationFrame(frame)
    frame = undefined
    play.textContent = 'Play'
  }
  const showMoment = ({ at }: State) => {
    const happened = countMomentsUntil(moments, at)
    if (frame === undefined) count = happened
    scrubber.value = String(happened)
    const text = `${at === undefined ? 'Now' : formatDate(at)} · ${formatBlocks(countMomentsUntil(sales, at))}`
    showText(label, text)
    scrubber.ariaValueText = text
    now.disabled = at === undefined
  }

  scrubber.addEventListener('input', () => {
    stopPlaying()
    seek(Number(scrubber.value))
  })
  return {
    elements: [play, scrubber, label, now],
    update(state: State, before: State) {
      const other = state === before || state.wall !== before.wall || state.history !== before.history
      if (other) {
        sales = state.wall === undefined ? sales : listMoments(state.wall)
        moments = state.history?.moments ?? sales
        scrubber.max = String(moments.length)
      }
      if (other || state.at !== before.at) showMoment(state)
    },
    close: stopPlaying,
  }
}
