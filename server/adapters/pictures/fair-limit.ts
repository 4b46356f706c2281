/**
 * Does one piece of work at a time. Senders take turns, so that one who sends much waits behind their own. When too much
 * waits, whoever has most waiting loses their last piece to a sender with less.
 */

/** Does the work in its turn; `busy` if too much waits. */
export type FairLimit = <T>(sender: string, work: () => Promise<T>) => Promise<T | 'busy'>

type Go = (answer: 'go' | 'busy') => void

/** Makes the limit; at most `waitingMax` pieces of work wait. */
export function fairLimit(waitingMax: number): FairLimit {
  // In the order of turns.
  const waiting = new Map<string, Go[]>()
  let count = 0
  let isTaken = false

  const giveWay = (own: number): boolean => {
    const [most = []] = [...waiting.values()].toSorted((a, b) => b.length - a.length)
    if (most.length <= own + 1) return false
    most.pop()?.('busy')
    count--
    return true
  }
  const next = () => {
    const [first] = waiting
    if (first === undefined) return void (isTaken = false)
    const [sender, [go, ...others]] = first
    waiting.delete(sender)
    if (others.length > 0) waiting.set(sender, others)
    count--
    go?.('go')
  }
  return async (sender, work) => {
    if (isTaken) {
      const own = waiting.get(sender) ?? []
      if (count >= waitingMax && !giveWay(own.length)) return 'busy'
      const turn = Promise.withResolvers<'go' | 'busy'>()
      waiting.set(sender, [...own, turn.resolve])
      count++
      if ((await turn.promise) === 'busy') return 'busy'
    }
    isTaken = true
    try {
      return await work()
    } finally {
      next()
    }
  }
}
