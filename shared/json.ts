/** Strict parsing of JSON, so that all parsers agree on the content of accepted text, and access to parsed values. */

// Deeper than any real document.
const DEPTH_MAX = 64

// More strings, and more text around them, than any real document has; a picture is a single long string.
const STRINGS_MAX = 4096
const AROUND_MAX = 65_536

/** Text that is rejected even if it is valid JSON. */
export class UnsafeJson extends SyntaxError {
  override name = 'UnsafeJson'
}

/**
 * Parses JSON. Rejects text that is nested too deeply, or has too many parts to be read quickly. Also rejects a key
 * given twice in one object, because parsers differ in which of the key's values they keep. Throws `UnsafeJson` for
 * these, and `SyntaxError` for text that is not JSON.
 */
export function parseStrictJson(text: string): unknown {
  const structure = splitTokens(text)
  const value: unknown = JSON.parse(text)
  refuseRepeatedKeys(text, structure)
  return value
}

/** A string in JSON text, or a structural character between strings. */
type Token = { readonly kind: string; readonly from: number; readonly to: number }

const MARKS = '[]{}:'

/** Splits text, which need not be JSON, into tokens. Skips strings as a whole, because one may be megabytes long. */
function splitTokens(text: string): readonly Token[] {
  const tokens: Token[] = []
  let [strings, around, depth, deepest] = [0, 0, 0, 0]
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at)
    const end = quote < 0 ? text.length : quote
    around += end - at
    if (around > AROUND_MAX || strings++ > STRINGS_MAX) throw new UnsafeJson('it has too many parts')
    for (; at < end; at++) {
      const kind = text.charAt(at)
      if (!MARKS.includes(kind)) continue
      if (kind === '[' || kind === '{') depth++
      else if (kind !== ':') depth--
      deepest = Math.max(deepest, depth)
      if (deepest <= DEPTH_MAX) tokens.push({ kind, from: at, to: at })
    }
    if (quote < 0) break
    at = findStringEnd(text, quote)
    tokens.push({ kind: '"', from: quote, to: at })
  }
  // Parsing text that is nested this deeply would take too long.
  if (deepest > DEPTH_MAX)
    throw depth === 0 ? new UnsafeJson('it is nested too deeply') : new SyntaxError('it ends early')
  return tokens
}

/** The position after the quotation mark that ends a string. */
function findStringEnd(text: string, start: number): number {
  for (let quotes = 0, at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    if (quotes++ > STRINGS_MAX) throw new UnsafeJson('a string has too many quotation marks')
    let escapes = 0
    while (text[at - 1 - escapes] === '\\') escapes++
    if (escapes % 2 === 0) return at + 1
  }
  return text.length
}

/** Throws if an object in the JSON has the same key twice. */
function refuseRepeatedKeys(text: string, tokens: readonly Token[]): void {
  const open: (Set<unknown> | undefined)[] = [] // the keys of each open object, once there are any
  let key: Token | undefined
  for (const token of tokens) {
    if (token.kind === '[' || token.kind === '{') open.push(undefined)
    else if (token.kind === ']' || token.kind === '}') open.pop()
    else if (token.kind === '"') key = token
    else if (key !== undefined) {
      const name = readName(text, key)
      const names = open.at(-1) ?? new Set()
      if (names.has(name)) throw new UnsafeJson('a key is given twice')
      open[open.length - 1] = names.add(name)
    }
  }
}

/** Returns a quoted name from JSON that was already parsed. Only a name with escapes is parsed again. */
function readName(text: string, { from, to }: Token): unknown {
  const quoted = text.slice(from, to)
  return quoted.includes('\\') ? JSON.parse(quoted) : quoted.slice(1, -1)
}

/** An own property of an object; `undefined` if the value is not an object or has no such property. */
export const getMember = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? { ...value }[name] : undefined
