/** The viewer as Vite built it, held in memory. */

import { join } from 'node:path'
import { etagOf, readyAnswer, type ReadyAnswer } from './ready-answer.ts'

/** The file at a path, or nothing. */
export type ViewerFiles = (path: string) => ReadyAnswer | undefined

const INDEX = 'index.html'

// Vite puts a hash of the content in the names of everything but the page.
const HASHED = 'assets/'

// Everything comes from this service and nothing is written in the page itself. regl, which draws the wall, compiles its
// commands with Function, hence 'unsafe-eval'. Other pages may frame this one: that is how a view of it is embedded.
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'"

/** A page with the policy that keeps a browser from running or loading anything else on it. */
export function guarded(page: ReadyAnswer): ReadyAnswer {
  return (request) => {
    const response = page(request)
    response.headers.set('Content-Security-Policy', POLICY)
    return response
  }
}

/** Reads every file under `directory`; of one that does not exist, none. `index.html` is also `/`. */
export async function viewerFiles(directory: string): Promise<ViewerFiles> {
  const answers = new Map<string, ReadyAnswer>()
  for (const name of await namesIn(directory)) {
    const file = Bun.file(join(directory, name))
    const content = await file.bytes()
    const plain = readyAnswer({
      type: file.type,
      bytes: () => content,
      etag: etagOf(content),
      cacheControl: name.startsWith(HASHED) ? 'public, max-age=31536000, immutable' : 'no-cache',
    })
    const answer = name === INDEX ? guarded(plain) : plain
    answers.set(`/${name}`, answer)
    if (name === INDEX) answers.set('/', answer)
  }
  return (path) => answers.get(path)
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await Array.fromAsync(new Bun.Glob('**/*').scan({ cwd: directory }))
  } catch {
    return []
  }
}
