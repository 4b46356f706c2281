/** A real Chromium for the page's tests: the one at CHROMIUM_PATH, or the one from the npm package. */

import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { chromium, type Browser } from 'playwright-core'

/** Why this machine has no browser. */
export type NoBrowser = { readonly reason: string }

// WebGL without a graphics card, unchanged colours, and no network except loopback.
const FLAGS = [
  '--no-sandbox',
  '--in-process-gpu',
  '--ignore-gpu-blocklist',
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--force-color-profile=srgb',
  '--disable-background-networking',
  '--disable-component-update',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
]

// The fonts file in the package lists only the font folders of AWS Lambda, so the tests write their own file.
const FONTS_FILE = 'fonts-of-the-package.conf'
const renderFontsFile = (folder: string) => `<?xml version="1.0"?>
<fontconfig>
  <dir>${folder}/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>${folder}/fonts-cache</cachedir>
</fontconfig>
`

// On a busy machine, Chromium sometimes fails to start.
const ATTEMPTS = 3

/** Starts a headless Chromium, or says why none starts. */
export async function openBrowser(): Promise<Browser | NoBrowser> {
  for (let attempt = 1; ; attempt++) {
    const browser = await launchChromium()
    if (!('reason' in browser) || attempt === ATTEMPTS) return browser
    console.warn(`Chromium did not start at attempt ${attempt} of ${ATTEMPTS}: ${browser.reason}`)
  }
}

async function launchChromium(): Promise<Browser | NoBrowser> {
  try {
    const own = process.env['CHROMIUM_PATH']
    if (own) return await chromium.launch({ executablePath: own, args: FLAGS })
    const folder = await unpackChromium()
    return await chromium.launch({ executablePath: `${folder}/chromium`, args: FLAGS, env: createLibraryEnv(folder) })
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error) }
  }
}

// An environment with the package's own libraries and fonts, because a bare machine has neither.
function createLibraryEnv(folder: string): Record<string, string> {
  const inherited = Object.entries(process.env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]))
  return {
    ...Object.fromEntries(inherited),
    LD_LIBRARY_PATH: [`${folder}/al2023/lib`, process.env['LD_LIBRARY_PATH']].filter(Boolean).join(':'),
    FONTCONFIG_FILE: `${folder}/${FONTS_FILE}`,
  }
}

/**
 * The folder of the unpacked package, created on first use. It gets its final name only when it is complete, so that
 * parallel tests never see an incomplete folder.
 */
async function unpackChromium(): Promise<string> {
  const home = new URL('..', import.meta.resolve('@sparticuz/chromium'))
  const { version } = await Bun.file(new URL('package.json', home)).json()
  const folder = new URL(`../../../node_modules/.cache/chromium-${version}`, import.meta.url).pathname
  if (existsSync(folder)) return folder
  const draft = `${folder}.${process.pid}`
  await mkdir(draft, { recursive: true })
  await unpackChromiumInto(draft)
  await writeFile(`${draft}/${FONTS_FILE}`, renderFontsFile(folder))
  await rename(draft, folder).catch(() => rm(draft, { recursive: true }))
  return folder
}

// This needs a separate process with its own environment: the package unpacks into TMPDIR, and unpacks its libraries
// only if it believes that it runs on Lambda.
async function unpackChromiumInto(folder: string) {
  const script = `const { default: chromium } = await import('@sparticuz/chromium'); await chromium.executablePath()`
  const env = { ...process.env, TMPDIR: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' }
  const child = Bun.spawn([process.execPath, '-e', script], { env, cwd: import.meta.dir, stderr: 'pipe' })
  if ((await child.exited) !== 0)
    throw new Error(`Chromium could not be unpacked: ${await new Response(child.stderr).text()}`)
}
