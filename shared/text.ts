/**
 * The rules for untrusted text on the wall: names, frameworks and messages (printable text) and links.
 * Other people's language models and terminals read it, so nothing invisible or direction-changing is allowed.
 * Lengths are in Unicode code points. Text is kept exactly as sent, because owners sign it.
 */

export const NAME_MAX = 40
export const FRAMEWORK_MAX = 32
export const MESSAGE_MAX = 140
export const LINK_MAX = 200

// The most combining marks on a character: enough for every script; more would cover the lines above and below.
export const MARKS_MAX = 8

const PORT_MAX = 65_535

// Letters, marks, numbers, punctuation, symbols and the plain space; the zero-width joiner is checked separately.
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} \u200D]*$/u
// Characters that render as nothing despite their class; the zero-width joiner and the two emoji selectors are checked
// separately.
const invisible = /(?!\u200D|\uFE0E|\uFE0F)(?:\p{Default_Ignorable_Code_Point}|\u2800|\u{16FE4}|\u{1D159})/u
const joinerAwayFromPictograph =
  /(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F])\u200D|\u200D(?!\p{Extended_Pictographic})/u
// A selector follows a pictograph, or turns a digit into a keycap.
const selectorAwayFromPictograph = /(?<!\p{Extended_Pictographic})(?<![0-9#*](?=\uFE0F\u20E3))(?:\uFE0E|\uFE0F)/u
const blank = /^[ \p{M}]*$/u
const tower = new RegExp(`\\p{M}{${MARKS_MAX + 1}}`, 'u')

/** Whether the wall accepts `text`: 1 to `max` visible characters, each with at most `MARKS_MAX` combining marks. */
export function isPrintable(text: string, max: number): boolean {
  return (
    // A code point is at most two code units. This rejects megabytes of text before they are split.
    text.length <= 2 * max &&
    text.isWellFormed() &&
    [...text].length <= max &&
    printable.test(text) &&
    !invisible.test(text) &&
    !joinerAwayFromPictograph.test(text) &&
    !selectorAwayFromPictograph.test(text) &&
    !blank.test(text) &&
    !tower.test(text)
  )
}

// RFC 3986 without user information: a host name or an IP address in brackets, a port, then path, query and fragment.
const linkPattern =
  /^https:\/\/(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\.?|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?(?:[/?#](?:[A-Za-z0-9\-._~:/?#[\]@!$&()*+,;=]|%[0-9A-Fa-f]{2})*)?$/

/**
 * Whether the wall accepts `text` as a link: an ASCII `https://` URI with a host and without user information. The
 * server never fetches it.
 */
export function isLink(text: string): boolean {
  if (text.length > LINK_MAX) return false
  const match = linkPattern.exec(text)
  if (match === null || !URL.canParse(text)) return false
  return match[1] === undefined || (Number(match[1]) >= 1 && Number(match[1]) <= PORT_MAX)
}

const FAR = 3

/**
 * The known name nearest to a word by edit distance; `undefined` if that distance is not less than both `FAR` and the
 * name's length.
 */
export function findNearestWord<Name extends string>(word: string, known: readonly Name[]): Name | undefined {
  const near = known
    .map((name) => ({ name, far: measureDistance(word, name) }))
    .toSorted((one, two) => one.far - two.far)
  const [first] = near
  return first !== undefined && first.far < Math.min(FAR, first.name.length) ? first.name : undefined
}

/** The Levenshtein distance between two words. */
function measureDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1]
    for (const [j, otherLetter] of [...other].entries()) {
      const replaced = (row[j] ?? 0) + (letter === otherLetter ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
