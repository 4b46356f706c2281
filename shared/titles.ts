/** The titles of artworks. */

// A title of this length fits on one line or two.
const TITLE_MAX = 48

/** Returns a title made from the first words of an artwork's message. */
export function formatTitle(message: string | null | undefined): string {
  if (message === undefined || message === null) return 'Untitled'
  const characters = [...message]
  if (characters.length <= TITLE_MAX) return message
  const start = characters.slice(0, TITLE_MAX).join('')
  // The title is cut between words, if there are several.
  const words = start.slice(0, Math.max(start.lastIndexOf(' '), 0)) || start
  return `${words.trimEnd()}…`
}
