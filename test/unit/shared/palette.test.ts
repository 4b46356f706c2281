import { expect, test } from 'bun:test'
import { PALETTE } from '../../../shared/palette.ts'

test('the palette contains the colours that xterm shows for codes 16 to 255', () => {
  const computeLevel = (step: number) => (step === 0 ? 0 : 55 + 40 * step)
  const xterm = Array.from({ length: 240 }, (_, i) => i + 16).map((code) => {
    const cube = code - 16
    const channels =
      code < 232
        ? [computeLevel(Math.floor(cube / 36)), computeLevel(Math.floor(cube / 6) % 6), computeLevel(cube % 6)]
        : [code, code, code].map((grey) => 8 + (grey - 232) * 10)
    return `#${Buffer.from(channels).toString('hex')}`
  })
  expect(PALETTE).toEqual(xterm)
})
