/** Scripts, as text, that run in a measured page: some record when it paints or draws, others report its figures. */

/** Records in `probe` when the page first draws on a canvas, in milliseconds since navigation. */
export const NOTE_DRAWINGS = `
  globalThis.probe = { first: 0 }
  const note = (prototype, name) => {
    const own = prototype[name]
    prototype[name] = function (...given) {
      probe.first ||= performance.now()
      return own.apply(this, given)
    }
  }
  note(WebGLRenderingContext.prototype, 'drawArrays')
  note(CanvasRenderingContext2D.prototype, 'drawImage')
`

/** The prefix of a page's result in its console. */
export const ANSWER = 'probe '

/** Renders a script that makes the page report its figures itself, because polling would keep the page busy. */
export const renderReportScript = (figures: string): string =>
  `if (location.protocol === 'http:') ${figures}.then((found) => console.info('${ANSWER}' + JSON.stringify(found)))`

/** Records in `vitals` the times of the first and of the largest paint, the layout shift, and the blocking time. */
export const NOTE_VITALS = `
  globalThis.vitals = { first: 0, largest: 0, moved: 0, blocked: 0 }
  const watch = (type, note) =>
    new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type, buffered: true })
  watch('paint', ({ name, startTime }) => name === 'first-contentful-paint' && (vitals.first = startTime))
  watch('largest-contentful-paint', ({ startTime }) => (vitals.largest = startTime))
  watch('layout-shift', ({ value }) => (vitals.moved += value))
  // Before the page shows anything, there is nothing to press.
  watch('longtask', ({ startTime, duration }) => {
    if (vitals.first > 0 && startTime + duration > vitals.first) vitals.blocked += duration - 50
  })
`

const LOADS = `
  const rested = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
  const loads = () => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  const bytes = () => loads().reduce((sum, { transferSize }) => sum + transferSize, 0)
`

/** The page's vitals and the bytes it loaded, headers included, once it has loaded nothing for two seconds. */
export const LOADED = `(async () => {${LOADS}
  while (document.querySelector('#stage')?.ariaBusy !== 'false') await rested(100)
  for (let seen = -1; seen !== loads().length; ) {
    seen = loads().length
    await rested(2000)
  }
  return [vitals.first, vitals.largest, vitals.blocked, vitals.moved, bytes()]
})()`

const renderFiguresScript = (isDone: string) => `(async () => {${LOADS}
  while (!(${isDone})) await rested(100)
  return [probe.first, bytes()]
})()`

/** The time of the page's first drawing, and the bytes it loaded until it had stored the wall for the next visit. */
export const STORED = renderFiguresScript(`localStorage.getItem("kept") && localStorage.getItem("view")`)

/** The time of the page's first drawing, and the bytes it loaded until it showed the changes since the last visit. */
export const RETURNED = renderFiguresScript(`document.querySelector('#news')?.textContent.includes('since')`)
