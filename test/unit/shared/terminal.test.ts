import { expect, test } from 'bun:test'
import { escapeLine, escapeText } from '../../../shared/terminal.ts'

test('characters that move the cursor, set colours or reverse text are shown as escapes, not executed', () => {
  expect(escapeLine('\u001B]0;owned\u0007 \u001B[31mred\r\n\u009B2J\u202Egnp\u{E0041}')).toBe(
    String.raw`\u001b]0;owned\u0007 \u001b[31mred\u000d\u000a\u009b2J\u202egnp\udb40\udc41`,
  )
})

test('text in any script stays unchanged, and so do emoji', () => {
  for (const text of ['Ada – zażółć 北京 שלום', '👩‍🚀 ok', '']) expect(escapeLine(text)).toBe(text)
})

test('escapeText keeps line feeds, and escapes other control characters', () => {
  expect(escapeText('one\ntwo\u001B')).toBe('one\ntwo\\u001b')
})

test('escaped JSON is still parsed to the same value', () => {
  const value = { reference: 'a\u202Eb\u009Bc\n' }
  expect(JSON.parse(escapeText(JSON.stringify(value, null, 2)))).toEqual(value)
})
