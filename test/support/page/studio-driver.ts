/** Drives the paint page in tests: provides pictures, downloads orders, and installs a wallet in the browser. */

import type { Page } from 'playwright-core'
import type { AreaOrder } from '../../../shared/contract/area-order.ts'
import { buildPng, RGB, RGBA } from '../picture-files.ts'

/**
 * A picture with pseudo-random colours, the same each time; in RGBA, the opacity of each pixel is pseudo-random, too.
 */
export function createNoisePng(
  width: number,
  height: number,
  kind: typeof RGB | typeof RGBA = RGB,
): Uint8Array<ArrayBuffer> {
  let seed = width * 1000 + height
  const generateNext = () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) >> 16
  const rowBytes = 1 + width * (kind === RGBA ? 4 : 3)
  const data = Uint8Array.from({ length: height * rowBytes }, (_, i) => (i % rowBytes === 0 ? 0 : generateNext()))
  return buildPng(width, height, kind, data)
}

/** The rows of a colour gradient in the form that an RGB PNG needs, each row after its filter byte. */
export const createGradientRows = (width: number, height: number): Uint8Array =>
  Uint8Array.from({ length: height * (1 + width * 3) }, (_, i) => {
    const [x, y] = [i % (1 + width * 3), Math.floor(i / (1 + width * 3))]
    return x === 0 ? 0 : 60 + y + (x * 80) / (width * 3)
  })

/** Drops a file onto the page. */
export async function dropFile(page: Page, name: string, bytes: Uint8Array) {
  await page.evaluate(
    ([called, base64]) => {
      const content = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File([content], called, { type: 'image/png' }))
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
    },
    [name, bytes.toBase64()] as const,
  )
}

/** Downloads the order in a format, and returns the file's text. The page must have painted the picture already. */
export async function downloadOrder(page: Page, form: string): Promise<string> {
  if (!(await page.locator('#forms').isVisible())) await page.getByText('Other formats').click()
  await page.locator(`input[value=${form}]`).check()
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: /^Download/ }).click(),
  ])
  return await Bun.file(await file.path()).text()
}

/** Opens a step of the paint page. */
export const goToStep = (page: Page, step: 'picture' | 'place' | 'words' | 'deal') =>
  page.locator(`#to-${step}`).click()

/** The area order that the page offers as JSON. The page must have painted the picture already. */
export async function readOrder(page: Page): Promise<AreaOrder> {
  await goToStep(page, 'deal')
  const body: AreaOrder = JSON.parse(await downloadOrder(page, 'json'))
  return body
}

/** Answers a request to a wallet; throws a `Refusal` to decline it. */
export type Answer = (method: string, params: readonly string[]) => Promise<unknown>

/** A wallet's refusal, with its EIP-1193 code. */
export class Refusal extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Adds a wallet to a page before the page opens an address; the wallet announces itself according to EIP-6963. */
export async function installWallet(page: Page, name: string, answer: Answer) {
  await page.exposeFunction('askWallet', async (method: string, params: readonly string[]) => {
    try {
      return { result: await answer(method, params) }
    } catch (error) {
      return error instanceof Refusal
        ? { code: error.code, message: error.message }
        : { code: -32_603, message: String(error) }
    }
  })
  await page.addInitScript((called) => {
    const answerRequest = async ({ method, params }: { method: string; params?: readonly string[] }) => {
      const { result, code, message } = await Reflect.get(window, 'askWallet')(method, params ?? [])
      if (code !== undefined) throw Object.assign(new Error(message), { code })
      return result
    }
    const info = { uuid: '3f1c8c3e-0000-4000-8000-000000000000', name: called, icon: 'data:,', rdns: 'org.example' }
    const announceWallet = () =>
      window.dispatchEvent(
        new CustomEvent('eip6963:announceProvider', { detail: { info, provider: { request: answerRequest } } }),
      )
    window.addEventListener('eip6963:requestProvider', announceWallet)
  }, name)
}

/**
 * Walks through painting on an open page, and calls `look` in each state: without a picture, at each step, and with the
 * other export formats.
 */
export async function walkThroughPainting(page: Page, look: (state: string) => Promise<void>): Promise<void> {
  await look('nothing yet')
  await dropFile(page, 'a.png', createNoisePng(20, 20))
  await page.getByText('a.png, 20 × 20 pixels').waitFor()
  for (const step of ['picture', 'place', 'words', 'deal'] as const) {
    await goToStep(page, step)
    await look(step)
  }
  await page.getByText('Other formats').click()
  await look('other formats')
}
