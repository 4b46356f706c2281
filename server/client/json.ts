/** JSON from other parties, read without trust. */

/** The JSON object in a text; an empty one if there is none. */
export function parseObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** A property of a value; `undefined` if it has none with that name. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? { ...value }[name] : undefined
