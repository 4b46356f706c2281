/** A queue in which senders take turns, so that a sender of many items delays only its own items. */

export type FairLine<Item> = {
  getLength(): number
  /** The number of items of a sender that are waiting. */
  countWaiting(sender: string): number
  push(sender: string, item: Item): void
  /** Removes and returns the first item of the sender whose turn it is; `undefined` if no item waits. */
  shift(): Item | undefined
  /**
   * Among the senders with a droppable item, finds the one with the most waiting items; drops and returns its newest
   * droppable item. If the newcomer ties with other senders, its own newest droppable item is dropped.
   */
  dropOne(newcomer: string): Item | undefined
}

/** Makes an empty queue; `mayGo` says which items can be dropped. */
export function createFairLine<Item>(mayGo: (item: Item) => boolean = () => true): FairLine<Item> {
  const waiting = new Map<string, Item[]>() // senders in the order of their next turns
  let length = 0
  const countIfDroppable = (own: readonly Item[] = []) => (own.some(mayGo) ? own.length : 0)
  return {
    getLength: () => length,
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
