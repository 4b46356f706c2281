/** The clients that wait for one answer: several, when they sent copies of one request. */

export type WaitingClients = {
  /** Another client waits. One without a signal is never known to hang up. */
  join(client: AbortSignal | undefined): void
  /** Whether every client has hung up. */
  haveLeft(): boolean
}

/** Begins with one client. */
export function waitingClients(first: AbortSignal | undefined): WaitingClients {
  const clients = [first]
  return {
    join: (client) => void clients.push(client),
    haveLeft: () => clients.every((client) => client?.aborted === true),
  }
}

/** For work that no client waits for. */
export const NOBODY: WaitingClients = { join: () => {}, haveLeft: () => true }
