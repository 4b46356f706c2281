import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { PALETTE } from '../../shared/palette.ts'
import type { NoBrowser } from '../support/page/browser.ts'
import { openFirefox, openWebKit, type OtherBrowser } from '../support/page/other-browsers.ts'
import { startSampleServer, type SampleServer } from '../support/page/sample-server.ts'
import { computeRainbowColour } from '../support/page/sample-wall.ts'
import { reportSkipped } from '../support/skipped.ts'

// Goal: the page works in more than one browser. Method: Firefox and WebKitGTK from Debian's packages open the page; if
// a browser is not installed, the test says so.

const all = [
  ['Firefox', await openFirefox()],
  ['WebKit', await openWebKit()],
] satisfies [string, OtherBrowser | NoBrowser][]

const WHOLE = `document.querySelector('main')?.ariaBusy === 'false'`

describe.each(all)('the page in %s', (name, browser) => {
  let server: SampleServer | undefined
  setDefaultTimeout(90_000)
  if ('reason' in browser) {
    test.skipIf(reportSkipped(`${name} (${browser.reason})`, false))('the browser is not installed', () => {})
    return
  }

  beforeAll(async () => {
    server = await startSampleServer()
  })

  afterAll(async () => {
    await browser.close()
    await server?.stop()
  })

  const waitUntil = async (expression: string) => {
    while ((await browser.evaluateText(expression)) !== 'true') await Bun.sleep(20)
  }
  const openWall = async (address: string) => {
    await browser.goTo(`${server?.url.href}${address}`)
    await waitUntil(WHOLE)
  }
  const pressKey = (key: string) =>
    browser.evaluateText(
      `document.getElementById('wall').dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true }))`,
    )

  test('a link to an artwork opens the details within the window, with the title and the colours of the artwork', async () => {
    await openWall('?work=80,45')
    expect(await browser.evaluateText(`document.getElementById('counts').textContent`)).toBe(
      '4 of 14,400 blocks sold, $1 each.',
    )
    await waitUntil(`document.querySelector('#card .payment')?.textContent.includes('Paid on Base') === true`)
    expect(await browser.evaluateText(`document.querySelector('#card .title').textContent`)).toBe(
      'Hello from a machine.',
    )
    const corner = `[...document.querySelector('#card .frame canvas').getContext('2d').getImageData(0, 0, 1, 1).data]`
    expect(
      await browser.evaluateText(`${corner}.slice(0, 3).map((level) => level.toString(16).padStart(2, '0')).join('')`),
    ).toBe(PALETTE[computeRainbowColour(0, 0)]?.slice(1) ?? '')
    const box = `document.getElementById('card').getBoundingClientRect()`
    expect(
      await browser.evaluateText(`${box}.top >= 0 && ${box}.bottom <= innerHeight && ${box}.right <= innerWidth`),
    ).toBe('true')
  })

  test('a panel opens with its key and closes with Escape', async () => {
    await openWall('')
    await pressKey('/')
    expect(await browser.evaluateText(`document.getElementById('panel').ariaLabel`)).toBe('Find')
    expect(await browser.evaluateText(`document.querySelectorAll('#panel .works li').length`)).toBe('3')
    await pressKey('Escape')
    expect(await browser.evaluateText(`document.getElementById('panel').hidden`)).toBe('true')
  })
})
