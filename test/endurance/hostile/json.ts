/** Members of JSON that may be anything. */

type Members = Readonly<Record<string, unknown>>

/** The members of an object; none of anything else. */
export const recordOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? (value as Members) : {}

/** The members of the object that a text holds; none where it cannot be read. */
export function recordIn(text: string): Members {
  try {
    return recordOf(JSON.parse(text))
  } catch {
    return {}
  }
}
