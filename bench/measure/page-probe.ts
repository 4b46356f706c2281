/**
 * Scripts, as text, for a measured page. Some run before the page's own code, others find out when the page can be
 * used.
 */

/**
 * Records in `probe` when the page first draws on a canvas, and how often it draws. Times are milliseconds since
 * navigation.
 */
export const NOTE_DRAWINGS = `
  globalThis.probe = { first: 0, draws: 0 }
  const note = (prototype, name) => {
    const own = prototype[name]
    prototype[name] = function (...given) {
      probe.draws++
      probe.first ||= performance.now()
      return own.apply(this, given)
    }
  }
  note(WebGLRenderingContext.prototype, 'drawArrays')
  note(CanvasRenderingContext2D.prototype, 'drawImage')
`

/** Delivers the wall only once its data is complete, as for a page that reads JSON as a whole. */
export const WAIT_FOR_ALL = `
  const read = globalThis.fetch
  globalThis.fetch = async (...given) => {
    const response = await read(...given)
    if (!response.url.includes('/api/canvas')) return response
    return new Response(await response.arrayBuffer(), { status: response.status, headers: response.headers })
  }
`

/** The prefix of a page's result in its console. */
export const ANSWER = 'probe '

/** Makes the page report its figures itself, because polling would keep the page busy. */
export const renderReportScript = (figures: string): string =>
  `if (location.protocol === 'http:') ${figures}.then((found) => console.info('${ANSWER}' + JSON.stringify(found)))`

/** Resolves to the time when the page first drew. */
export const FIRST_DRAWN = `(async () => {
  while (probe.first === 0) await new Promise(requestAnimationFrame)
  return probe.first
})()`

/** Adds up in `probe` by how much each long task exceeded the noticeable time, and records the longest task. */
export const NOTE_TASKS = `
  const UNNOTICED_MS = 50
  probe.blocked = 0
  probe.longest = 0
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      probe.blocked += duration - UNNOTICED_MS
      probe.longest = Math.max(probe.longest, duration)
    }
  }).observe({ type: 'longtask', buffered: true })
`

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

/** Waits until the page shows the whole wall, has stopped drawing, and has drawn again after one notch of the wheel. */
const USED = `
  const frame = () => new Promise(requestAnimationFrame)
  const isRead = ({ name, responseEnd }) => name.includes('/api/canvas') && responseEnd > 0
  const isDrawn = () => document.body?.dataset.ready === 'yes' || document.querySelector('#stage')?.ariaBusy === 'false'
  const isShown = () => isDrawn() && performance.getEntriesByType('resource').some(isRead)
  while (!isShown()) await frame()
  for (let seen = -1; seen !== probe.draws; ) {
    seen = probe.draws
    await frame()
    await frame()
  }
  const before = probe.draws
  const at = { clientX: innerWidth / 2, clientY: innerHeight / 2, deltaY: -100, bubbles: true, cancelable: true }
  document.getElementById('wall').dispatchEvent(new WheelEvent('wheel', at))
  while (probe.draws === before) await frame()
  const usable = performance.now()
`

/** Resolves to the time when the page can be used. */
export const USABLE = `(async () => {${USED}  return usable
})()`

/**
 * The times when the page first drew, can be used, and can name every artwork; the blocking time until then; the
 * longest task.
 */
export const OPENED = `(async () => {${USED}
  while (document.querySelector('[aria-busy="true"]') !== null) await frame()
  const named = performance.now()
  await new Promise((resolve) => setTimeout(resolve, 300))
  return [probe.first, usable, named, probe.blocked, probe.longest]
})()`
