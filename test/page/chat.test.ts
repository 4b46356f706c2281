import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Frame, Page } from 'playwright-core'
import { PALETTE } from '../../shared/palette.ts'
import { toScreen } from '../../viewer/camera/camera.ts'
import { lookAtSketch } from '../../viewer/studio/sketch.ts'
import { findViolations } from '../support/page/axe.ts'
import type { Shown } from '../support/page/chat-host.ts'
import { openTestBrowser } from '../support/page/test-page.ts'

// Goal: in a chat, a person sees the wall with their picture in position before their agent pays. Method: a host that
// uses the MCP Apps library calls tools of a wall, and shows their views in a sandboxed frame with the policy that each
// view requests.

const browser = await openTestBrowser()

const W = 3
const H = 2
// No two adjacent pixels are equal.
const picture = Uint8Array.from({ length: W * H * 100 }, (_, at) => (at * 7) % 240)
const preview = { coord: '80,45', w: W, h: H, pixels: picture.toBase64() }

describe.skipIf('reason' in browser)('the wall inside a chat', () => {
  setDefaultTimeout(60_000)
  const script = new URL('../support/service/serve-chat.ts', import.meta.url).pathname
  const wall = Bun.spawn([process.execPath, script], { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' })
  let address = ''
  let host: Bun.Server<undefined>
  const asked: string[] = []

  beforeAll(async () => {
    const { value } = await wall.stdout.getReader().read()
    address = new TextDecoder().decode(value).trim()
    host = await serveHost()
  })

  afterEach(async () => {
    if (!('reason' in browser)) for (const context of browser.contexts()) await context.close()
  })

  afterAll(async () => {
    await host.stop(true)
    await wall.stdin.end()
    await wall.exited
    if (!('reason' in browser)) await browser.close()
  })

  /**
   * Opens a host that shows a call, and waits until the view has drawn the call, and the wall if the view may read it.
   */
  const showCall = async (call: Partial<Shown> & Pick<Shown, 'tool'>, width = 720): Promise<readonly [Page, Frame]> => {
    if ('reason' in browser) throw new Error(browser.reason)
    const page = await (await browser.newContext({ viewport: { width, height: 700 } })).newPage()
    page.on('request', (request) => asked.push(request.url()))
    await page.goto(host.url.href)
    const whole: Shown = { wall: address, args: {}, theme: 'dark', reaches: true, ...call }
    await page.evaluate(async (one) => await Reflect.get(globalThis, 'host').show(one), whole)
    const frame = page.frames().find((one) => one !== page.mainFrame())
    if (frame === undefined) throw new Error('the host shows no frame')
    await frame.waitForSelector('body[data-call]')
    return [page, frame]
  }

  const readOffer = async (frame: Frame) => await frame.locator('#offer').textContent()
  const readMessages = async (page: Page) => await page.evaluate(() => Reflect.get(globalThis, 'host').messages)

  /** The colour in the middle of each pixel of the picture, as the view draws it. */
  const readDrawnPicture = async (frame: Frame) => {
    const [width, height] = await frame
      .locator('#wall')
      .evaluate(({ clientWidth, clientHeight }) => [clientWidth, clientHeight])
    const view = { width: width ?? 0, height: height ?? 0 }
    const camera = lookAtSketch({ at: { col: 80, row: 45 }, size: { w: W, h: H } }, view)
    const points = Array.from(picture, (_, at) =>
      toScreen(camera, view, { x: 800.5 + (at % (W * 10)), y: 450.5 + Math.floor(at / (W * 10)) }),
    )
    return await frame.locator('#wall').evaluate((canvas, wanted) => {
      const context = (canvas as HTMLCanvasElement).getContext('2d')
      const readHex = ({ x, y }: { x: number; y: number }) =>
        [...(context?.getImageData(Math.floor(x), Math.floor(y), 1, 1).data ?? [])]
          .slice(0, 3)
          .map((value) => value.toString(16).padStart(2, '0'))
          .join('')
      return wanted.map((point) => `#${readHex(point)}`)
    }, points)
  }

  test('in a chat, a picture is shown at its position, pixel by pixel, with its exact price', async () => {
    const [, frame] = await showCall({ tool: 'preview_block', args: preview })
    expect(await readOffer(frame)).toBe('area 80,45,3x2, 6 blocks, available: 6.00 USDC.')
    expect(await readDrawnPicture(frame)).toEqual(Array.from(picture, (index) => PALETTE[index] ?? ''))
  })

  test('in a chat, the button of the view sends the model a message that says what to buy, without the bytes of the picture', async () => {
    const [page, frame] = await showCall({ tool: 'preview_block', args: preview })
    await frame.locator('#action').focus()
    await page.keyboard.press('Enter')
    await frame.waitForFunction(() => document.getElementById('action')?.textContent === 'Sent')
    const { host: name } = new URL(address)
    const text = `Buy area 80,45,3x2 on the pixel wall at ${name} for 6.00 USDC. Use the picture from your last call.`
    expect(await readMessages(page)).toEqual([{ type: 'text', text }])
  })

  test('in a chat, the view offers no purchase if the user moves the picture over a sold block', async () => {
    const [page, frame] = await showCall({ tool: 'preview_block', args: preview })
    await frame.locator('#wall').focus()
    for (const _ of [1, 2]) await page.keyboard.press('ArrowRight')
    expect(await readOffer(frame)).toBe('area 82,45,3x2: 1 of 6 blocks is taken.')
    expect(await frame.locator('#action').textContent()).toBe('Find available space')
  })

  test('in a chat, a picture without a position is placed where there is space', async () => {
    const image = Buffer.from(await (await fetch(`${address}/wall.png?col=0&row=0&cols=2&rows=2`)).arrayBuffer())
    const [, frame] = await showCall({
      tool: 'image_to_pixels',
      args: { image: image.toString('base64'), w: 2, h: 2 },
    })
    await frame.waitForFunction(() => document.getElementById('offer')?.textContent?.includes('available:'))
    expect(await readOffer(frame)).toBe('area 79,44,2x2, 4 blocks, available: 4.00 USDC.')
  })

  test.each([
    ['get_wall', {}, '1 of 14,400 blocks sold. A block costs 1.00 USDC.'],
    ['find_space', { w: 4, h: 3 }, 'area 78,43,4x3, 12 blocks, available: 12.00 USDC. No picture yet.'],
  ])(
    'in a chat, the view of %s shows the wall, and its button does not offer a purchase',
    async (tool, args, sentence) => {
      const [, frame] = await showCall({ tool, args })
      expect(await readOffer(frame)).toBe(sentence)
      expect(await frame.locator('#action').textContent()).not.toContain('Buy')
    },
  )

  test('if the chat does not let the view send requests, the view shows the position and the price without the wall, and says why', async () => {
    const [, frame] = await showCall({ tool: 'preview_block', args: preview, reaches: false })
    expect(await readOffer(frame)).toBe(
      'area 80,45,3x2, 6 blocks, 6.00 USDC. This view could not read the wall, perhaps because this chat does not allow it, so no artworks are shown.',
    )
    expect(await readDrawnPicture(frame)).toEqual(Array.from(picture, (index) => PALETTE[index] ?? ''))
  })

  test('the view in a chat sends requests only to the wall, and shows no text from other users', async () => {
    asked.length = 0
    const [, frame] = await showCall({ tool: 'preview_block', args: preview })
    expect(new Set(asked.map((url) => new URL(url).origin))).toEqual(new Set([address, new URL(host.url).origin]))
    expect(await frame.evaluate(() => document.body.innerText)).not.toContain('Mallory')
  })

  test.each([
    [320, 'dark'],
    [900, 'light'],
  ] as const)('axe reports no violation in a chat that is %i pixels wide, in the %s theme', async (width, theme) => {
    const [, frame] = await showCall({ tool: 'preview_block', args: preview, theme }, width)
    expect(await findViolations(frame)).toEqual([])
    expect(await frame.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
  })

  /** Serves the page of the host and its frames, each with a policy for the origins that the host sent. */
  async function serveHost(): Promise<Bun.Server<undefined>> {
    const entry = new URL('../support/page/chat-host.ts', import.meta.url).pathname
    const { outputs } = await Bun.build({ entrypoints: [entry], target: 'browser' })
    const code = await outputs[0]?.text()
    const frames: Response[] = []
    return Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      routes: {
        '/': () =>
          new Response(
            '<!doctype html><title>A chat</title><script type="module" src="/host.js"></script><style>iframe{width:100%;border:0}</style>',
            { headers: { 'content-type': 'text/html' } },
          ),
        '/host.js': () => new Response(code, { headers: { 'content-type': 'text/javascript' } }),
        '/frame': {
          POST: async (request) => {
            const { html, connect } = (await request.json()) as { html: string; connect: string[] }
            const policy = `default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src ${connect.join(' ') || "'none'"}`
            const headers = { 'content-type': 'text/html', 'content-security-policy': policy }
            return new Response(`/frame/${frames.push(new Response(html, { headers })) - 1}`)
          },
        },
        '/frame/:at': ({ params }) => frames[Number(params.at)]?.clone() ?? new Response(null, { status: 404 }),
      },
    })
  }
})
