/** The clients that wait for one answer: several, when they sent copies of one request. */

export type Audience = {
  /** Another client waits. One without a signal is never known to hang up. */
  join(client: AbortSignal | undefined): void
  /** Whether every client has hung up. */
  gone(): boolean
  /** Does `work` whenever the last client hangs up. */
  whenGone(work: () => void): void
}

/** Begins with one client. */
export function audience(first: AbortSignal | undefined): Audience {
  const clients: (AbortSignal | undefined)[] = []
  let work = () => {}
  const gone = () => clients.every((client) => client?.aborted === true)
  const join = (client: AbortSignal | undefined) => {
    clients.push(client)
    client?.addEventListener('abort', () => gone() && work(), { once: true })
  }
  join(first)
  return {
    join,
    gone,
    whenGone(what) {
      work = what
    },
  }
}
