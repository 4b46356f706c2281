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
