/** A queue in which senders take turns, so that a sender of many items only delays its own. */

export type FairLine<Item> = {
  length(): number
  /** How many items of a sender wait. */
  countWaiting(sender: string): number
  push(sender: string, item: Item): void
  /** Takes the first item of the sender whose turn it is. */
  shift(): Item | undefined
  /**
   * Drops the newest item that may go, of the sender with the most waiting items. If others have as many as the
   * newcomer, drops the newcomer's.
   */
  dropOne(newcomer: string): Item | undefined
}

/** Makes an empty line; `mayGo` says which items can be dropped. */
export function createFairLine<Item>(mayGo: (item: Item) => boolean = () => true): FairLine<Item> {
  const waiting = new Map<string, Item[]>() // senders in the order of their next turns
  let length = 0
  const countIfDroppable = (own: readonly Item[] = []) => (own.some(mayGo) ? own.length : 0)
  return {
    length: () => length,
    countWaiting: (sender) => waiting.get(sender)?.length ?? 0,
    push(sender, item) {
      const own = waiting.get(sender)
      if (own === undefined) waiting.set(sender, [item])
      else own.push(item)
      length += 1
    },
    shift() {
      const [first] = waiting
      if (first === undefined) return undefined
      const [sender, own] = first
      const item = own.shift()
      waiting.delete(sender)
      if (own.length > 0) waiting.set(sender, own)
      length -= 1
      return item
    },
    dropOne(newcomer) {
      let [sender, most] = [newcomer, countIfDroppable(waiting.get(newcomer))]
      for (const [name, own] of waiting)
        if (own.length > most && countIfDroppable(own) > 0) [sender, most] = [name, own.length]
      if (most === 0) return undefined
      const own = waiting.get(sender) ?? []
      const [dropped] = own.splice(own.findLastIndex(mayGo), 1)
      if (own.length === 0) waiting.delete(sender)
      length -= 1
      return dropped
    },
  }
}
