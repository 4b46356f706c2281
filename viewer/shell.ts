/** The shell that the wall's page and the paint page share: theme, frames, stage size, and reading the wall. */

import { type Appearance, createAppearance } from './appearance.ts'
import { type View, measureView } from './camera/camera.ts'
import type { keepCopies } from './data/keep-copies.ts'
import type { KeptWall, readKeptWall } from './data/kept-copy.ts'
import { readWall } from './data/read-wall.ts'
import { readPrice, readSharedStream } from './page-words.ts'
import type { Theme } from './theme.ts'
import { queryElement } from './ui/dom.ts'
import { hideNotice, showNotice } from './ui/messages.ts'
import type { Wall } from './wall/wall-model.ts'

// A failed read is retried after these times; the last time repeats.
const RETRY_MS = [2000, 5000, 15_000, 60_000] as const

/** The functions that read the copy stored at the last visit, and store one for the next visit. */
type KeptCopy = {
  readonly readKeptWall: typeof readKeptWall
  loadKeepCopies(): Promise<{ readonly keepCopies: typeof keepCopies }>
  /** The freshly drawn canvas, if it shows the view that the next visit opens with. */
  captureOpeningView(): HTMLCanvasElement | undefined
}

/** The page that uses the shell: its stage, its wall and its callbacks. */
export type ShellDeps = {
  readonly stage: HTMLElement
  readonly keptCopy?: KeptCopy | undefined // undefined if nothing is stored for the next visit
  /** Draws a frame; `now` is its time in milliseconds, `undefined` for a drawing between frames. */
  draw(now?: number): void
  setTheme(theme: Theme): void
  /** Called when the stage's size or the pixel ratio has changed. */
  resize(view: View): void
  getWall(): Wall | undefined
  /**
   * Called when more of the wall has arrived, or the wall has changed; `since` is the time from which the visitor has
   * missed changes, in Unix milliseconds.
   */
  showWall(wall: Wall, since?: number): void
  /** Called once the wall has caught up with all changes. */
  onCaughtUp?(): void
  /**
   * Resolves once the UI that describes blocks has loaded, or has failed to load. The first `showWall` starts loading
   * it.
   */
  waitForUi?(): Promise<void> | undefined
}

/** Creates a shell; its `start` must be called once. */
export function createShell(page: ShellDeps) {
  const { stage } = page
  hideNotice()
  const appearance: Appearance = createAppearance(() => {
    page.setTheme(appearance.getTheme())
    requestFrame()
  })
  let frameAsked = false
  /** Schedules a drawing in the next frame; further calls before that frame have no effect. */
  const requestFrame = () => {
    if (frameAsked) return
    frameAsked = true
    requestAnimationFrame((now) => {
      frameAsked = false
      page.draw(now)
    })
  }
  const fitStage = () => {
    page.resize(measureView(stage))
    // Setting the size of a canvas clears it, so it is drawn again before the browser paints.
    page.draw()
  }
  /** Watches the pixel ratio, because a window dragged to another screen may keep its size but change its ratio. */
  const watchPixelRatio = () => {
    const same = window.matchMedia(`(resolution: ${devicePixelRatio}dppx)`)
    same.addEventListener('change', () => (fitStage(), watchPixelRatio()), { once: true })
  }
  return {
    appearance,
    requestFrame,
    /** Starts to read the wall, and to follow its changes and the stage's size. */
    start() {
      new ResizeObserver(fitStage).observe(stage)
      watchPixelRatio()
      void readAndFollowWall(page)
    },
  }
}

/** Shows the stored wall, or else reads the wall, retrying until that succeeds; then keeps it up to date. */
async function readAndFollowWall(page: ShellDeps) {
  const { stage, showWall } = page
  // The stage stays busy for assistive technology until the UI has loaded, because nothing announces the block under
  // the pointer or cursor before then.
  const clearBusyAfterUi = async () => {
    await page.waitForUi?.()
    stage.ariaBusy = 'false'
  }
  const kept = await page.keptCopy?.readKeptWall()
  if (kept !== undefined) {
    showWall(kept.wall)
    await clearBusyAfterUi()
    return await followWall(page, kept.number, kept)
  }
  for (let failures = 0; ; failures++) {
    stage.ariaBusy = 'true'
    try {
      const { number } = await readWall({ requestPath: fetch, showWall, price: readPrice() })
      void clearBusyAfterUi()
      return await followWall(page, number)
    } catch {
      stage.ariaBusy = 'false'
      await waitToRetry(RETRY_MS[failures] ?? RETRY_MS[3])
    }
  }
}

/** Shows that the wall could not be read; resolves when the visitor, the network or the timer triggers a retry. */
function waitToRetry(ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const asked = new AbortController()
  showNotice('Could not load the wall. Retrying automatically.', () => resolve())
  window.addEventListener('online', () => resolve(), { signal: asked.signal })
  const timer = setTimeout(resolve, ms)
  return promise.finally(() => {
    clearTimeout(timer)
    asked.abort()
    hideNotice()
  })
}

// The copies for the next visit are stored only this long after the wall has caught up, so that everything that the
// user waits for loads first.
const REST_MS = 3000

// `sync.ts` loads once the wall has arrived, because nothing on the first screen needs it.
async function followWall(page: ShellDeps, number: number, kept?: KeptWall) {
  try {
    const { syncWall } = await import('./data/sync.ts')
    const { getWall, showWall, keptCopy } = page
    const stale = queryElement('stale', HTMLElement)
    const showStaleness = (words: string) => void (stale.textContent = words)
    const { caughtUp, getWallToKeep } = syncWall({
      number,
      shared: readSharedStream(),
      kept,
      getWall,
      showWall,
      showStaleness,
    })
    await caughtUp
    page.onCaughtUp?.()
    if (keptCopy === undefined) return
    await new Promise((resolve) => setTimeout(resolve, REST_MS))
    const { keepCopies } = await keptCopy.loadKeepCopies()
    keepCopies(getWallToKeep, keptCopy.captureOpeningView)
  } catch {
    showScriptLoadError()
  }
}

/** Offers a reload, because the page cannot fetch a failed script again. */
export const showScriptLoadError = () => showNotice('Part of this page could not be loaded.', () => location.reload())
