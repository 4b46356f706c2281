/** Text for a terminal: what strangers say must not move its cursor, change its colours or turn its lines around. */

// Controls, and format characters such as those that change direction; the joiner of emoji does no harm.
const active = /(?!\u200D)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** One line for a terminal: what would act on it is shown as `\uXXXX`. A line of JSON stays the same JSON. */
export const terminalLine = (text: string): string => text.replaceAll(active, escaped)

const escaped = (character: string) =>
  Array.from({ length: character.length }, (_, at) => `\\u${hex(character.charCodeAt(at))}`).join('')

const hex = (unit: number) => unit.toString(16).padStart(4, '0')

/** Several lines for a terminal; only line feeds separate them. */
export const terminalText = (text: string): string => text.split('\n').map(terminalLine).join('\n')
