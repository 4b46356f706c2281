/** Drives and reads the page in tests. Points are of the stage unless said otherwise. */

import type { Page } from 'playwright-core'
import type { BlockIndex } from '../../../shared/wall.ts'
import { type Box, type Camera, type Point, type View, boxOf, fit, zoom } from '../../../viewer/camera/camera.ts'

/** Run in the page before its own code: counts WebGL draws as `window.draws`. */
export function countDraws() {
  const { drawArrays } = WebGLRenderingContext.prototype
  Reflect.set(window, 'draws', 0)
  WebGLRenderingContext.prototype.drawArrays = function (...args) {
    Reflect.set(window, 'draws', Reflect.get(window, 'draws') + 1)
    drawArrays.apply(this, args)
  }
}

/** Run in the page: takes the graphics context away and gives it back. */
export function loseContext() {
  const canvas = document.querySelector('canvas')
  const loss = canvas?.getContext('webgl')?.getExtension('WEBGL_lose_context')
  canvas?.addEventListener('webglcontextlost', () => setTimeout(() => loss?.restoreContext()))
  loss?.loseContext()
}

/** Does something and waits until the page has drawn because of it. */
export async function afterDraw(page: Page, act: () => Promise<unknown>) {
  const before: number = await page.evaluate(() => Reflect.get(window, 'draws'))
  await act()
  await page.waitForFunction((count) => Reflect.get(window, 'draws') > count, before)
}

/** How far down the page the stage begins, in CSS pixels. */
export const stageTop = (page: Page) =>
  page.evaluate(() => document.getElementById('stage')?.getBoundingClientRect().top ?? 0)

/** The stage's size. */
export const viewOf = (page: Page): Promise<View> =>
  page.evaluate(() => {
    const { clientWidth: width = 0, clientHeight: height = 0 } = document.getElementById('stage') ?? {}
    return { width, height }
  })

/** The middle of a block's box. */
export const middleOf = (box: Box): Point => ({
  x: box.left + box.width / 2,
  y: box.top + box.height / 2,
})

/** Rests the pointer on a block of a wall shown whole until it is named; answers where on the page that is. */
export async function pointAt(page: Page, block: BlockIndex): Promise<Point> {
  const view = await viewOf(page)
  const middle = middleOf(boxOf(fit(view), view, block))
  const point = { x: middle.x, y: middle.y + (await stageTop(page)) }
  await afterDraw(page, () => page.mouse.move(point.x, point.y))
  await page.locator('.tooltip').waitFor()
  return point
}

/** Zooms in on a block with the wheel, takes the pointer away and answers the camera that must result. */
export async function zoomTo(page: Page, block: BlockIndex, factor: number): Promise<Camera> {
  const view = await viewOf(page)
  const top = await stageTop(page)
  const middle = middleOf(boxOf(fit(view), view, block))
  // Browsers tell where the wheel turned in whole pixels.
  const cursor = { x: Math.round(middle.x), y: Math.round(middle.y) }
  await page.mouse.move(cursor.x, cursor.y + top)
  await afterDraw(page, () => page.mouse.wheel(0, -Math.log(factor) / 0.002))
  await afterDraw(page, () => page.mouse.move(cursor.x, 2))
  return zoom(fit(view), view, factor, cursor)
}

/** Where the middle of a block's pixel lies on the stage. */
export async function pixelOf(page: Page, camera: Camera, block: BlockIndex, x: number, y: number): Promise<Point> {
  const view = await viewOf(page)
  const box = boxOf(camera, view, block)
  return { x: box.left + ((x + 0.5) * box.width) / 10, y: box.top + ((y + 0.5) * box.height) / 10 }
}

/** The colour the browser shows at a point of the stage, `#rrggbb`. */
export async function colourAt(page: Page, { x, y }: Point): Promise<string> {
  const clip = { x: Math.floor(x), y: Math.floor(y + (await stageTop(page))), width: 1, height: 1 }
  const png = (await page.screenshot({ clip })).toString('base64')
  return page.evaluate(async (data) => {
    const bytesOfPng = Uint8Array.from(atob(data), (character) => character.charCodeAt(0))
    const image = await createImageBitmap(new Blob([bytesOfPng], { type: 'image/png' }))
    const context = new OffscreenCanvas(1, 1).getContext('2d')
    context?.drawImage(image, 0, 0)
    const bytes = context?.getImageData(0, 0, 1, 1).data.slice(0, 3) ?? []
    return `#${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
  }, png)
}

/** Resolves once the page shows a colour at a point of the stage; what draws it need not have been drawn yet. */
export async function shows(page: Page, point: Point, wanted: string | ((colour: string) => boolean)): Promise<void> {
  let colour = ''
  for (let frame = 0; frame < 200; frame++) {
    colour = await colourAt(page, point)
    if (typeof wanted === 'string' ? colour === wanted : wanted(colour)) return
    await page.evaluate(() => new Promise(requestAnimationFrame))
  }
  throw new Error(`${point.x}, ${point.y} stays ${colour}`)
}

/** Resolves once a wall shown whole has a colour in the middle of a block. */
export async function showsBlock(page: Page, block: BlockIndex, wanted: Parameters<typeof shows>[2]): Promise<void> {
  const view = await viewOf(page)
  await shows(page, middleOf(boxOf(fit(view), view, block)), wanted)
}

/** Two fingers around a point spread from one distance to another. */
export async function pinch(page: Page, around: Point, from: number, to: number) {
  const session = await page.context().newCDPSession(page)
  const fingers = (distance: number) => [
    { x: around.x - distance / 2, y: around.y, id: 0 },
    { x: around.x + distance / 2, y: around.y, id: 1 },
  ]
  await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: fingers(from) })
  for (const share of [0.25, 0.5, 0.75, 1]) {
    const touchPoints = fingers(from + (to - from) * share)
    await session.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints })
  }
  await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
}
