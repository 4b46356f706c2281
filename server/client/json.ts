/** What others sent as JSON, read without trust. */

/** The JSON object that a text is; an empty one if it is none. */
export function objectIn(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** A member of a value; `undefined` if it has none of that name. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? { ...value }[name] : undefined
