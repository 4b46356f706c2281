/** The note beside a file whose wall has moved away, so that no wall starts on it by mistake. */

import { existsSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { CannotOpen } from '../cannot-open.ts'
import { flush } from '../new-file.ts'

const locateNote = (path: string) => `${existsSync(path) ? realpathSync(path) : path}.moved`

/** Throws `CannotOpen` if the wall at `path` has moved away. */
export function ensureNotMoved(path: string): void {
  const note = locateNote(path)
  if (!existsSync(note)) return
  const words = readFileSync(note, 'utf8').trim()
  throw new CannotOpen(
    `the wall in ${path} ${words}: use that location in the settings. Return to this file only if nothing was sold at the new location: remove ${note}`,
  )
}

/**
 * Prepares the note that the wall at `path` is elsewhere. Calling the returned function puts the note in place and
 * flushes it.
 */
export function prepareNote(path: string, words: string): () => void {
  const note = locateNote(path)
  const unfinished = `${note}.unfinished`
  writeFileSync(unfinished, `${words}\n`)
  flush(unfinished)
  return () => {
    renameSync(unfinished, note)
    flush(dirname(note))
  }
}

/** Removes the note, because the wall is at `path` after all. */
export function removeMovedNote(path: string): void {
  for (const ending of ['', '.unfinished']) rmSync(`${locateNote(path)}${ending}`, { force: true })
}
