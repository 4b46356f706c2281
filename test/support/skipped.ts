/** Whether tests with a requirement are skipped; prints what is missing, in a line that the run repeats at its end. */
export function reportSkipped(what: string, isHere: boolean): boolean {
  if (!isHere) console.warn(`skipped without ${what}`)
  return !isHere
}
