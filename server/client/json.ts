/** Reads untrusted JSON from other parties. */

/** Parses text as a JSON object; returns an empty object if it is not one. */
export function parseObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** An own property of a value; `undefined` if the value has none with this name. */
export const getMember = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? { ...value }[name] : undefined
