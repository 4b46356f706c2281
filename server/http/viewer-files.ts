/** The viewer as Vite built it, held in memory. */

import { join } from 'node:path'
import { etagOf, readyAnswer, type ReadyAnswer } from './ready-answer.ts'

/** The file at a path, or nothing. */
export type ViewerFiles = (path: string) => ReadyAnswer | undefined

const INDEX = 'index.html'

// Vite puts a hash of the content in the names of everything but the page.
const HASHED = 'assets/'

/** Reads every file under `directory`; of one that does not exist, none. `index.html` is also `/`. */
export async function viewerFiles(directory: string): Promise<ViewerFiles> {
  const answers = new Map<string, ReadyAnswer>()
  for (const name of await namesIn(directory)) {
    const file = Bun.file(join(directory, name))
    const content = await file.bytes()
    const answer = readyAnswer({
      type: file.type,
      bytes: () => content,
      etag: etagOf(content),
      cacheControl: name.startsWith(HASHED) ? 'public, max-age=31536000, immutable' : 'no-cache',
    })
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
