/**
 * Firefox and WebKitGTK from Debian's packages. Tests drive Firefox by WebDriver BiDi, and WebKitGTK by WebDriver on an
 * Xvfb screen.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { findFreePort } from '../../../server/local/wall-process.ts'
import type { NoBrowser } from './browser.ts'

/** A browser with one page. */
export type OtherBrowser = {
  goTo(url: string): Promise<void>
  /** The value of an expression in the page, as text. */
  evaluateText(expression: string): Promise<string>
  close(): Promise<void>
}

/** Starts a headless Firefox, or says why none starts. */
export async function openFirefox(): Promise<OtherBrowser | NoBrowser> {
  const program = Bun.which('firefox-esr') ?? Bun.which('firefox')
  if (program === null) return { reason: 'firefox-esr is not installed' }
  const profile = await mkdtemp(`${tmpdir()}/pixel-wall-firefox-`)
  const child = Bun.spawn([program, '--headless', '--no-remote', '--profile', profile, '--remote-debugging-port=0'], {
    env: { ...process.env, HOME: profile },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const ask = await connectBidi(`${await waitForMatch(child.stderr, /WebDriver BiDi listening on (ws:\S+)/)}/session`)
  await ask('session.new', { capabilities: {} })
  const { context } = await ask('browsingContext.create', { type: 'tab' })
  return {
    goTo: async (url) => void (await ask('browsingContext.navigate', { context, url, wait: 'complete' })),
    async evaluateText(expression) {
      const { result } = await ask('script.evaluate', {
        expression: `String(${expression})`,
        target: { context },
        awaitPromise: false,
      })
      return result?.value ?? ''
    },
    async close() {
      child.kill()
      await child.exited
      await rm(profile, { recursive: true, force: true })
    },
  }
}

/** The fields of BiDi's results that these functions use. */
type Told = { readonly context?: string; readonly result?: { readonly value?: string } }

async function connectBidi(address: string): Promise<(method: string, params: object) => Promise<Told>> {
  const socket = new WebSocket(address)
  const waiting = new Map<number, PromiseWithResolvers<Told>>()
  socket.addEventListener('message', ({ data }: MessageEvent<string>) => {
    const { id, result, message }: { id?: number; result?: Told; message?: string } = JSON.parse(data)
    const asked = waiting.get(id ?? -1)
    if (result === undefined) asked?.reject(new Error(message))
    else asked?.resolve(result)
  })
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  return (method, params) => {
    const id = waiting.size + 1
    const asked = Promise.withResolvers<Told>()
    waiting.set(id, asked)
    socket.send(JSON.stringify({ id, method, params }))
    return asked.promise
  }
}

const MINI_BROWSER = '/usr/lib/*/webkit2gtk-4.*/MiniBrowser'

/** Starts WebKitGTK's own small browser on a virtual screen, or says why none starts. */
export async function openWebKit(): Promise<OtherBrowser | NoBrowser> {
  const [binary] = await Array.fromAsync(new Bun.Glob(MINI_BROWSER).scan({ cwd: '/', absolute: true }))
  if (Bun.which('WebKitWebDriver') === null || binary === undefined)
    return { reason: 'webkit2gtk-driver is not installed' }
  if (Bun.which('Xvfb') === null) return { reason: 'xvfb is not installed' }
  const screen = Bun.spawn(['Xvfb', '-displayfd', '1', '-screen', '0', '1280x800x24'], {
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const display = await waitForMatch(screen.stdout, /(\d+)\n/)
  const port = await findFreePort()
  const driver = Bun.spawn(['WebKitWebDriver', `--port=${port}`], {
    env: { ...process.env, DISPLAY: `:${display}`, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1' },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const options = { binary, args: ['--automation'] }
  const sendCommand = async (method: string, path: string, body?: object): Promise<unknown> => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) }
    const answer: { value: unknown } = await (await fetch(`http://127.0.0.1:${port}${path}`, init)).json()
    return answer.value
  }
  const started = await retryUntilSuccessful(() =>
    sendCommand('POST', '/session', { capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': options } } }),
  )
  const session = `/session/${String(Reflect.get(Object(started), 'sessionId'))}`
  return {
    goTo: async (url) => void (await sendCommand('POST', `${session}/url`, { url })),
    evaluateText: async (expression) =>
      String(
        await sendCommand('POST', `${session}/execute/sync`, { script: `return String(${expression})`, args: [] }),
      ),
    async close() {
      await sendCommand('DELETE', session)
      driver.kill()
      screen.kill()
      await Promise.all([driver.exited, screen.exited])
    },
  }
}

/** Retries a failing attempt for about five seconds, for example while the server does not listen yet. */
async function retryUntilSuccessful<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++)
    try {
      return await attempt()
    } catch (error) {
      if (tries >= 100) throw error
      await Bun.sleep(50)
    }
}

/** Reads a program's output until it matches a pattern; returns the text that the pattern's group matched. */
async function waitForMatch(stream: ReadableStream<Uint8Array>, pattern: RegExp): Promise<string> {
  const decoder = new TextDecoder()
  let said = ''
  for await (const part of stream) {
    said += decoder.decode(part, { stream: true })
    const caught = pattern.exec(said)?.[1]
    if (caught !== undefined) return caught
  }
  throw new Error(`the program ended without the expected output; it printed: ${said}`)
}
