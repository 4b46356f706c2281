/** Waiting for what another process does; the test's own time limit ends it. */

/** Asks again and again until there is an answer. */
export async function eventually<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    await Bun.sleep(20)
  }
}

/** Waits until something holds. */
export async function waitUntil(holds: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(async () => ((await holds()) ? true : undefined))
}

/** Sends a request again and again while its answer has a status. */
export function sendWhile(status: number, send: () => Promise<Response>): Promise<Response> {
  return eventually(async () => {
    const response = await send()
    return response.status === status ? undefined : response
  })
}
