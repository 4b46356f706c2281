import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { PALETTE } from '../../shared/palette.ts'
import { dark } from '../../viewer/theme.ts'
import { OPEN } from '../../viewer/wall/pixel-buffer.ts'
import {
  requireBlockAt,
  canvas,
  checkerBlock,
  nastyBlock,
  computeRainbowColour,
  rainbowBlock,
} from '../support/page/sample-wall.ts'
import { openTestBrowser, setUpTestPages } from '../support/page/test-page.ts'

// Goal: a block can be saved as a picture, and the history as an animation, pixel for pixel. Method: the browser itself
// decodes the saved file, and the test compares it with the pixels that the wall showed.

const browser = await openTestBrowser()
const white = new Uint8Array(100).fill(215).toBase64()

/** Decodes a picture in the page; returns its size, the number of its frames, and the colours of points in a frame. */
const decodePicture = (
  page: Page,
  type: string,
  base64: string,
  frame: number,
  points: readonly (readonly [number, number])[],
) =>
  page.evaluate(
    async ([kind, data, index, places]) => {
      const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0))
      const decoder = new ImageDecoder({ data: bytes, type: kind })
      await decoder.completed
      const { image } = await decoder.decode({ frameIndex: index })
      const context = new OffscreenCanvas(image.displayWidth, image.displayHeight).getContext('2d')
      context?.drawImage(image, 0, 0)
      const colours = places.map(([x, y]) => [...(context?.getImageData(x, y, 1, 1).data.slice(0, 3) ?? [])])
      return {
        frames: decoder.tracks.selectedTrack?.frameCount,
        size: [image.displayWidth, image.displayHeight],
        colours: colours.map((rgb) => `#${rgb.map((level) => level.toString(16).padStart(2, '0')).join('')}`),
      }
    },
    [type, base64, frame, points] as const,
  )

describe.skipIf('reason' in browser)('saved files, in Chromium', () => {
  const { getServer, openPage } = setUpTestPages(browser, { width: 960, height: 600 })

  const downloadPicture = async (page: Page, panel: string, name: string) => {
    await page.keyboard.press(panel)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name, exact: true }).click(),
    ])
    return { name: download.suggestedFilename(), file: (await Bun.file(await download.path()).bytes()).toBase64() }
  }
  const locateMiddle = (block: number, x = 5, y = 5) =>
    [(block % 160) * 10 + x, Math.floor(block / 160) * 10 + y] as const

  test('a timelapse of the wall begins with open blocks and ends with the present wall, pixel for pixel', async () => {
    getServer().repaintBlock(nastyBlock, white)
    const page = await openPage()
    const { name, file } = await downloadPicture(page, 't', 'Save GIF of the wall')
    expect(name).toBe('pixel-wall.gif')
    const points = [
      locateMiddle(rainbowBlock, 3, 7),
      locateMiddle(checkerBlock, 0, 0),
      locateMiddle(nastyBlock),
      locateMiddle(requireBlockAt(0, 0)),
    ]
    const open = dark.own[OPEN] ?? ''
    expect(await decodePicture(page, 'image/gif', file, 0, points)).toEqual({
      frames: canvas.blocks.length + 2,
      size: [1600, 900],
      colours: [open, open, open, open],
    })
    expect(await decodePicture(page, 'image/gif', file, canvas.blocks.length, points)).toMatchObject({
      colours: [PALETTE[computeRainbowColour(3, 7)], '#000000', '#ff0000', open],
    })
    expect(await decodePicture(page, 'image/gif', file, canvas.blocks.length + 1, points)).toMatchObject({
      colours: [PALETTE[computeRainbowColour(3, 7)], '#000000', '#ffffff', open],
    })
  })

  test('a timelapse of an artwork shows only that artwork, enlarged', async () => {
    const page = await openPage('?work=80,45')
    const { name, file } = await downloadPicture(page, 't', 'Save GIF of this artwork')
    expect(name).toBe('pixel-wall-work-80-45.gif')
    const locateEnlargedPixel = (x: number, y: number) => [24 * x + 12, 24 * y + 12] as const
    expect(
      await decodePicture(page, 'image/gif', file, 2, [
        locateEnlargedPixel(0, 0),
        locateEnlargedPixel(9, 9),
        locateEnlargedPixel(19, 9),
      ]),
    ).toMatchObject({
      size: [480, 240],
      colours: [PALETTE[computeRainbowColour(0, 0)], PALETTE[computeRainbowColour(9, 9)], dark.own[242]],
    })
  })

  test('a saved picture of a block shows the pixels of that block, enlarged', async () => {
    const page = await openPage('?block=80,45')
    const { name, file } = await downloadPicture(page, 'l', 'Save PNG of block 80,45')
    expect(name).toBe('pixel-wall-80-45.png')
    expect(await decodePicture(page, 'image/png', file, 0, [[0, 0]])).toMatchObject({
      size: [240, 240],
      colours: [PALETTE[computeRainbowColour(0, 0)]],
    })
  })
})
