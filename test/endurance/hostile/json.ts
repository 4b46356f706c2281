/** Reads the properties of JSON values of any type. */

type Members = Readonly<Record<string, unknown>>

/** The properties of an object; none for any other value. */
export const toRecord = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? (value as Members) : {}

/** The properties of the JSON object in a text; none if the text cannot be parsed. */
export function parseRecord(text: string): Members {
  try {
    return toRecord(JSON.parse(text))
  } catch {
    return {}
  }
}
