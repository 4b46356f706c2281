/** JSON as strictly as two parties must read it to agree on what was said. */

import { visit } from 'jsonc-parser'

/** Parses JSON and refuses a key given twice in one object, of which parsers keep different ones. Throws `SyntaxError`. */
export function parseStrictJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  const open: Set<string>[] = []
  visit(text, {
    onObjectBegin: () => void open.push(new Set()),
    onObjectProperty: (key) => {
      const keys = open.at(-1)
      if (keys?.has(key) === true) throw new SyntaxError('a key is given twice')
      keys?.add(key)
    },
    onObjectEnd: () => void open.pop(),
  })
  return value
}
