/** Drives and reads the page in tests. Points are relative to the stage unless stated otherwise. */

import type { Page } from 'playwright-core'
import type { BlockIndex } from '../../../shared/wall.ts'
import {
  type Box,
  type Camera,
  type Point,
  type View,
  computeBlockBox,
  fitWall,
  zoom,
} from '../../../viewer/camera/camera.ts'
import { scaleLimit } from '../machine.ts'

/** Runs in the page before its own code: counts WebGL draws as `window.draws`. */
export function countDraws() {
  const { drawArrays } = WebGLRenderingContext.prototype
  Reflect.set(window, 'draws', 0)
  WebGLRenderingContext.prototype.drawArrays = function (...args) {
    Reflect.set(window, 'draws', Reflect.get(window, 'draws') + 1)
    drawArrays.apply(this, args)
  }
}

/** Runs in the page: loses the WebGL context, and restores it right after. */
export function loseContext() {
  const canvas = document.querySelector('canvas')
  const loss = canvas?.getContext('webgl')?.getExtension('WEBGL_lose_context')
  canvas?.addEventListener('webglcontextlost', () => setTimeout(() => loss?.restoreContext()))
  loss?.loseContext()
}

/** Resolves once the page reacts to pointers and keys: the wall is read, and its details are loaded. */
export async function waitUntilReady(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('main')?.ariaBusy === 'false')
}

// If this were shorter, an action would be repeated although its effect is only late.
const AGAIN_MS = scaleLimit(1000)
const TRIES_MAX = 20

/**
 * Performs a user's action, and repeats it about every second until the page has reacted. A busy browser loses pointer
 * moves during a layout, and takes a delayed tap for a long press. `act` must be repeatable, and gets the number of the
 * attempt, from 0. `answer` waits for the page's reaction, with a time limit in milliseconds.
 */
export async function repeatUntilAnswered(
  answer: (timeout: number) => Promise<unknown>,
  act: (number: number) => Promise<unknown>,
): Promise<void> {
  for (let number = 0; ; number++) {
    await act(number)
    try {
      return void (await answer(AGAIN_MS))
    } catch (error) {
      if (number >= TRIES_MAX) throw error
    }
  }
}

/** Rests the pointer on a point of the page until an element appears: by default, the tooltip of the block there. */
export function restPointer(page: Page, { x, y }: Point, answer = page.locator('.tooltip')): Promise<void> {
  return repeatUntilAnswered(
    (timeout) => answer.waitFor({ timeout }),
    async (number) => {
      // A move to the current position causes no event.
      if (number > 0) await page.mouse.move(x + 1, y)
      await page.mouse.move(x, y)
    },
  )
}

/** Opens the details of the block at a point of the page, with the mouse or with a finger. */
export function openDetails(page: Page, { x, y }: Point, by: 'mouse' | 'finger' = 'mouse'): Promise<void> {
  return repeatUntilAnswered(
    (timeout) => page.locator('#card').waitFor({ timeout }),
    () => (by === 'mouse' ? page.mouse.click(x, y) : page.touchscreen.tap(x, y)),
  )
}

/** Calls `act`, and waits until the page has drawn in response. */
export async function actAndWaitForDraw(page: Page, act: () => Promise<unknown>) {
  const before: number = await page.evaluate(() => Reflect.get(window, 'draws'))
  await act()
  await page.waitForFunction((count) => Reflect.get(window, 'draws') > count, before)
}

/** How far down the page the stage begins, in CSS pixels. */
export const measureStageTop = (page: Page) =>
  page.evaluate(() => document.getElementById('stage')?.getBoundingClientRect().top ?? 0)

/** The stage's size. */
export const measureStage = (page: Page): Promise<View> =>
  page.evaluate(() => {
    const { clientWidth: width = 0, clientHeight: height = 0 } = document.getElementById('stage') ?? {}
    return { width, height }
  })

/** The middle of a block's box. */
export const computeMiddle = (box: Box): Point => ({
  x: box.left + box.width / 2,
  y: box.top + box.height / 2,
})

/**
 * Rests the pointer on a block of a wall that is shown whole, until the tooltip appears; returns the pointer's position
 * on the page.
 */
export async function hoverBlock(page: Page, block: BlockIndex): Promise<Point> {
  const view = await measureStage(page)
  const middle = computeMiddle(computeBlockBox(fitWall(view), view, block))
  const point = { x: middle.x, y: middle.y + (await measureStageTop(page)) }
  await restPointer(page, point)
  return point
}

/** Zooms in on a block with the wheel, moves the pointer away and returns the expected camera. */
export async function zoomToBlock(page: Page, block: BlockIndex, factor: number): Promise<Camera> {
  const view = await measureStage(page)
  const top = await measureStageTop(page)
  const middle = computeMiddle(computeBlockBox(fitWall(view), view, block))
  // Browsers report the position of the wheel in whole pixels.
  const cursor = { x: Math.round(middle.x), y: Math.round(middle.y) }
  await restPointer(page, { x: cursor.x, y: cursor.y + top })
  await actAndWaitForDraw(page, () => page.mouse.wheel(0, -Math.log(factor) / 0.002))
  await actAndWaitForDraw(page, () => page.mouse.move(cursor.x, 2))
  return zoom(fitWall(view), view, factor, cursor)
}

/** The centre of one pixel of a block, as a position on the stage. */
export async function locatePixel(page: Page, camera: Camera, block: BlockIndex, x: number, y: number): Promise<Point> {
  const view = await measureStage(page)
  const box = computeBlockBox(camera, view, block)
  return { x: box.left + ((x + 0.5) * box.width) / 10, y: box.top + ((y + 0.5) * box.height) / 10 }
}

/** The colour the browser shows at a point of the stage, `#rrggbb`. */
export async function readColour(page: Page, { x, y }: Point): Promise<string> {
  const clip = { x: Math.floor(x), y: Math.floor(y + (await measureStageTop(page))), width: 1, height: 1 }
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

/** Resolves once a point of the stage has the wanted colour; throws if it does not within 200 frames. */
export async function waitForColour(
  page: Page,
  point: Point,
  wanted: string | ((colour: string) => boolean),
): Promise<void> {
  let colour = ''
  for (let frame = 0; frame < 200; frame++) {
    colour = await readColour(page, point)
    if (typeof wanted === 'string' ? colour === wanted : wanted(colour)) return
    await page.evaluate(() => new Promise(requestAnimationFrame))
  }
  throw new Error(`${point.x}, ${point.y} stays ${colour}`)
}

/** Resolves once the middle of a block has the wanted colour, on a wall that is shown whole. */
export async function waitForBlockColour(
  page: Page,
  block: BlockIndex,
  wanted: Parameters<typeof waitForColour>[2],
): Promise<void> {
  const view = await measureStage(page)
  await waitForColour(page, computeMiddle(computeBlockBox(fitWall(view), view, block)), wanted)
}

/** Spreads two fingers around a point from one distance to another. */
export async function pinch(page: Page, around: Point, from: number, to: number) {
  const session = await page.context().newCDPSession(page)
  const placeFingers = (distance: number) => [
    { x: around.x - distance / 2, y: around.y, id: 0 },
    { x: around.x + distance / 2, y: around.y, id: 1 },
  ]
  await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: placeFingers(from) })
  for (const share of [0.25, 0.5, 0.75, 1]) {
    const touchPoints = placeFingers(from + (to - from) * share)
    await session.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints })
  }
  await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
}
