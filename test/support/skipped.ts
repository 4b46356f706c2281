/** Whether tests that need `what` are skipped. If so, prints a line that the run repeats at its end. */
export function reportSkipped(what: string, isHere: boolean): boolean {
  if (!isHere) console.warn(`skipped without ${what}`)
  return !isHere
}
