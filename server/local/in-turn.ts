/**
 * Numbers the transactions of one account: `send` is given the next number, and the next caller waits until it is done.
 * The number is asked of the chain each time, so one that failed, or was dropped from the pool, leaves no gap behind it.
 */
export function inTurn<T>(nextNonce: () => Promise<number>): (send: (nonce: number) => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (send) => {
    const turn = last.then(nextNonce).then(send)
    last = turn.catch(() => undefined)
    return turn
  }
}
