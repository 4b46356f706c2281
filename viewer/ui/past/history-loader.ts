/**
 * Reads the wall's history when the history is first opened; while it stays open, reads new changes when the wall
 * changes.
 */

import type { ChangeDto } from '../../../shared/contract/live.ts'
import { readHistory } from '../../data/read-json.ts'
import type { Page, Component } from '../../page.ts'
import { createHistory } from '../../wall/wall-history.ts'

/** A component that shows nothing: it puts the history into the state. */
export function createHistoryLoader(page: Page): Component {
  let log: readonly ChangeDto[] = []
  let isBehind = true
  let reading = false

  const loadHistory = async () => {
    reading = true
    isBehind = false
    try {
      log = [...log, ...(await readHistory(log.at(-1)?.number ?? 0))]
      reading = false
      const nextAfter = log.at(-1)?.number ?? 0
      if (nextAfter !== page.getState().history?.nextAfter)
        page.dispatch({ do: 'history-loaded', history: createHistory(log, nextAfter) })
    } catch {
      // If the first read fails, the history panel shows only sales, by their time. The next update of the page repeats
      // the read.
      reading = false
      isBehind = true
    }
  }

  return {
    update({ wall, panel, at }, before) {
      if (wall !== before.wall) isBehind = true
      const isWanted = panel === 'time' || at !== undefined
      if (isWanted && isBehind && !reading && wall?.complete) void loadHistory()
    },
  }
}
