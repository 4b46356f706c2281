/** The client that waits for an answer. A copy of its request that somebody else sends is another client, with a run of its own. */

export type WaitingClient = {
  /** Whether it has disconnected. */
  hasLeft(): boolean
}

/** One without a signal counts as waiting for ever. */
export const waitingClient = (signal: AbortSignal | undefined): WaitingClient => ({
  hasLeft: () => signal?.aborted === true,
})

/** No client, for the reconciler. */
export const NOBODY: WaitingClient = { hasLeft: () => true }
