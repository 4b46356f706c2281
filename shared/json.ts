/** JSON as strictly as two parties must read it to agree on what was said. */

import { visit } from 'jsonc-parser'

// Deeper than anything that is meant; the walk below is recursive, and has to end before the stack does.
const DEPTH_MAX = 64

/** JSON by its grammar that is not read all the same. */
export class UnsafeJson extends SyntaxError {
  override name = 'UnsafeJson'
}

/**
 * Parses JSON and refuses a key given twice in one object, of which parsers keep different ones, and deep nesting.
 * Throws `UnsafeJson` for these two, `SyntaxError` for what is no JSON.
 */
export function parseStrictJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  // A key given twice would have been lost, and what most clients send is written as it is here.
  if (isShallow(text) && JSON.stringify(value) === text) return value
  const open: Set<string>[] = []
  let depth = 0
  const descend = () => {
    if (++depth > DEPTH_MAX) throw new UnsafeJson('it is nested too deeply')
  }
  visit(text, {
    onArrayBegin: descend,
    onArrayEnd: () => void depth--,
    onObjectBegin: () => {
      descend()
      open.push(new Set())
    },
    onObjectProperty: (key) => {
      const keys = open.at(-1)
      if (keys?.has(key) === true) throw new UnsafeJson('a key is given twice')
      keys?.add(key)
    },
    onObjectEnd: () => {
      depth--
      open.pop()
    },
  })
  return value
}

/** Whether a text has too few brackets to be nested too deeply. */
function isShallow(text: string): boolean {
  let opened = 0
  for (let at = 0; at < text.length && opened <= DEPTH_MAX; at++) {
    const code = text.charCodeAt(at)
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) opened++
  }
  return opened <= DEPTH_MAX
}

const OPEN_OBJECT = 0x7b
const OPEN_ARRAY = 0x5b
