/** Waits for another process, without a time limit except the test's own. */

/** Calls `ask` until it returns a result. */
export async function waitFor<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    await Bun.sleep(20)
  }
}

/** Waits until a condition is true. */
export async function waitUntil(holds: () => boolean | Promise<boolean>): Promise<void> {
  await waitFor(async () => ((await holds()) ? true : undefined))
}

/** Resends a request while its response has the given status. */
export function sendWhile(status: number, send: () => Promise<Response>): Promise<Response> {
  return waitFor(async () => {
    const response = await send()
    return response.status === status ? undefined : response
  })
}
