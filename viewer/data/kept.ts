/** What the service worker has kept of the service, for when there is no line. */

let isOld = false

/** Whether anything that was answered was kept, and of an hour that nobody knows. */
export const hasAnsweredKept = (): boolean => isOld

/** Asks the service; where it cannot be reached, answers what was kept of that path. */
export async function fetchOrKept(path: string): Promise<Response> {
  try {
    return await fetch(path)
  } catch (error) {
    const kept = 'caches' in window ? await caches.match(path, { ignoreVary: true }) : undefined
    if (kept === undefined) throw error
    isOld = true
    return kept
  }
}
