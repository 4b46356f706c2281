/** Whether somebody has been here before. Then the head of a phone is one row, and the words of the first visit are in a panel. */

const KEPT_AS = 'visited'

/** Marks the page of a returning visitor, and remembers that there was a visit. */
export function markVisit() {
  try {
    document.body.classList.toggle('returning', localStorage.getItem(KEPT_AS) !== null)
    localStorage.setItem(KEPT_AS, '1')
  } catch {
    // A browser may refuse storage to a page; each visit is then the first.
  }
}
