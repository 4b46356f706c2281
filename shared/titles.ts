/** What a work is called, on the page and off it. */

// A title of so many characters stands on one line or two.
const TITLE_MAX = 48

/** The first words of what a work says. */
export function titleOf(message: string | null | undefined): string {
  if (message === undefined || message === null) return 'Untitled'
  const characters = [...message]
  if (characters.length <= TITLE_MAX) return message
  const start = characters.slice(0, TITLE_MAX).join('')
  // Cut between words where there are any.
  const words = start.slice(0, Math.max(start.lastIndexOf(' '), 0)) || start
  return `${words.trimEnd()}…`
}
