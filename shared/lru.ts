/** A map of limited size that evicts the least recently used entry. */

/** At `max` entries, adding another evicts the entry that has been unused for longest. */
export type Lru<Key, Value> = {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): void
  delete(key: Key): void
  clear(): void
}

/** An empty map for at most `max` entries. */
export function createLru<Key, Value>(max: number): Lru<Key, Value> {
  const entries = new Map<Key, Value>()
  const forgetOldest = () => {
    const [oldest] = entries.keys()
    if (oldest !== undefined) entries.delete(oldest)
  }
  const set = (key: Key, value: Value) => {
    entries.delete(key)
    if (entries.size >= max) forgetOldest()
    entries.set(key, value)
  }
  return {
    get(key) {
      const value = entries.get(key)
      if (value !== undefined) set(key, value)
      return value
    },
    set,
    delete: (key) => void entries.delete(key),
    clear: () => entries.clear(),
  }
}

/** Returns the value of a key, or makes it now, once for all concurrent callers. A failure is not cached. */
export async function getOrMake<Key, Value>(
  kept: Lru<Key, Promise<Value>>,
  key: Key,
  make: () => Promise<Value>,
): Promise<Value> {
  const promise = kept.get(key) ?? make()
  kept.set(key, promise)
  try {
    return await promise
  } catch (error) {
    if (kept.get(key) === promise) kept.delete(key)
    throw error
  }
}
