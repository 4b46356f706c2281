/** The clients that wait for one answer: several, when they sent copies of one request. */

export type WaitingClients = {
  /** Adds a client. One without a signal counts as waiting for ever. */
  join(client: AbortSignal | undefined): void
  /** Whether every client has disconnected. */
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

/** No clients, for the reconciler. */
export const NOBODY: WaitingClients = { join: () => {}, haveLeft: () => true }
