/** Text in HTML and XML. */

/** A text that can stand between tags or in a quoted attribute. */
export const inMarkup = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
