/** Remembers what was of use last. */

/** A memory of bounded size: of more than `max` entries, those not used for longest are forgotten. */
export type Recent<T> = { get(key: string): T | undefined; set(key: string, value: T): void; delete(key: string): void }

/** A memory with nothing in it. */
export function recent<T>(max: number): Recent<T> {
  const entries = new Map<string, T>()
  const set = (key: string, value: T) => {
    entries.delete(key)
    entries.set(key, value)
    const [oldest] = entries.keys()
    if (entries.size > max && oldest !== undefined) entries.delete(oldest)
  }
  return {
    get(key) {
      const value = entries.get(key)
      if (value !== undefined) set(key, value)
      return value
    },
    set,
    delete: (key) => void entries.delete(key),
  }
}
