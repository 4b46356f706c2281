/** The slow tour at `?tour`: one work after another with its label, until somebody touches the page. */

import type { Component, Page } from '../page.ts'

const NEXT_MS = 12_000

/** Begins the tour once the wall is there, if the address asks for it. */
export function createTour(page: Page): Component {
  let waits = new URLSearchParams(location.search).has('tour')
  return {
    update({ wall }) {
      if (!waits || !wall?.complete) return
      waits = false
      // The wall is being shown just now; where the address leads comes first.
      setTimeout(() => startTour(page))
    },
  }
}

function startTour(page: Page) {
  // What is shown can be linked to by itself.
  const url = new URL(location.href)
  url.searchParams.delete('tour')
  history.replaceState(history.state, '', url)
  const next = () => page.dispatch({ do: 'surprise', chance: Math.random() })
  const timer = setInterval(next, NEXT_MS)
  const touched = new AbortController()
  const end = () => {
    clearInterval(timer)
    touched.abort()
  }
  for (const kind of ['pointerdown', 'keydown', 'wheel'])
    window.addEventListener(kind, end, { signal: touched.signal, capture: true })
  next()
}
