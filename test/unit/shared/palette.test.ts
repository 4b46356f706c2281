import { expect, test } from 'bun:test'
import { PALETTE, PALETTE_SIZE, XTERM_OFFSET } from '../../../shared/palette.ts'

test.each([
  [0x00, '#000000'],
  [0x01, '#00005f'],
  [0x06, '#005f00'],
  [0x1e, '#00ff00'],
  [0x24, '#5f0000'],
  [0x7b, '#af87af'],
  [0xb4, '#ff0000'],
  [0xd7, '#ffffff'],
  [0xd8, '#080808'],
  [0xef, '#eeeeee'],
])('palette index %i is %s', (index, colour) => {
  expect(PALETTE[index]).toBe(colour)
})

test('the palette is what xterm shows for codes 16 to 255', () => {
  const level = (step: number) => (step === 0 ? 0 : 55 + 40 * step)
  const xterm = Array.from({ length: 240 }, (_, i) => i + 16).map((code) => {
    const cube = code - 16
    const channels =
      code < 232
        ? [level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)]
        : [code, code, code].map((grey) => 8 + (grey - 232) * 10)
    return `#${Buffer.from(channels).toString('hex')}`
  })
  expect(PALETTE).toEqual(xterm)
})

test('240 colours, no two alike, each in lower-case hex', () => {
  expect(PALETTE_SIZE).toBe(240)
  expect(new Set(PALETTE).size).toBe(240)
  expect(PALETTE.every((colour) => /^#[0-9a-f]{6}$/.test(colour))).toBe(true)
})

test('an index and its xterm code are 16 apart', () => {
  expect(XTERM_OFFSET).toBe(16)
})
