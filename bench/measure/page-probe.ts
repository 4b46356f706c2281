/** What is run in a page under measurement, as text: before its own code, and to ask it when it can be used. */

/** Notes when the page first draws on a canvas and how often it has, as `probe`. Times are milliseconds since it was asked for. */
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

/** Hands the wall over only when all of it is there, as a page does that reads JSON in one go. */
export const WAIT_FOR_ALL = `
  const read = globalThis.fetch
  globalThis.fetch = async (...given) => {
    const response = await read(...given)
    if (!response.url.includes('/api/canvas')) return response
    return new Response(await response.arrayBuffer(), { status: response.status, headers: response.headers })
  }
`

/** What a page's answer begins with in its console. */
export const ANSWER = 'probe '

/** Has the page tell its figures by itself: one that is asked is kept busy by the question. */
export const toldBy = (figures: string): string =>
  `if (location.protocol === 'http:') ${figures}.then((found) => console.info('${ANSWER}' + JSON.stringify(found)))`

/** When the page first drew. */
export const FIRST_DRAWN = `(async () => {
  while (probe.first === 0) await new Promise(requestAnimationFrame)
  return probe.first
})()`

/** Sums up, as `probe`, by how much every task that kept the page busy was longer than its reader would notice, and keeps the longest. */
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

/** When the page shows all of the wall, has come to rest, and has answered one notch of the wheel by a drawing. */
const USED = `
  const frame = () => new Promise(requestAnimationFrame)
  const isRead = ({ name, responseEnd }) => name.includes('/api/canvas') && responseEnd > 0
  const isShown = () => document.body?.dataset.ready === 'yes' && performance.getEntriesByType('resource').some(isRead)
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

/** When the page can be used. */
export const USABLE = `(async () => {${USED}  return usable
})()`

/** When the page first drew, can be used, and can name every work; how long it was kept busy until then beyond what is noticed, and the longest task. */
export const OPENED = `(async () => {${USED}
  while (document.querySelector('[aria-busy="true"]') !== null) await frame()
  const named = performance.now()
  await new Promise((resolve) => setTimeout(resolve, 300))
  return [probe.first, usable, named, probe.blocked, probe.longest]
})()`
