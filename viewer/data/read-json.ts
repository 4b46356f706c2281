/** Reads JSON of the service. */

/** Reads the JSON at a path; rejects with the `name` of what was asked when the answer is no success. */
export async function readJson<T>(path: string, name: string, init?: RequestInit): Promise<T> {
  const response = await fetch(path, init)
  if (!response.ok) throw new Error(`the ${name} answered ${response.status}`)
  const body: T = await response.json()
  return body
}
