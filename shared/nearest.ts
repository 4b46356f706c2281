/** The known name that a misspelt one was probably meant to be. */

const FAR = 3

/** The nearest of the known names; `undefined` where none is near. Short names must be nearer than they are long. */
export function nearest<Name extends string>(word: string, known: readonly Name[]): Name | undefined {
  const near = known.map((name) => ({ name, far: distance(word, name) })).toSorted((one, two) => one.far - two.far)
  const [first] = near
  return first !== undefined && first.far < Math.min(FAR, first.name.length) ? first.name : undefined
}

/** The Levenshtein distance of two words. */
function distance(one: string, other: string): number {
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
