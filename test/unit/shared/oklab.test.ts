import { expect, test } from 'bun:test'
import { LINEAR, toLinearRgb, toOklab, type Oklab } from '../../../shared/oklab.ts'

// Values from the implementation by Björn Ottosson, the author of OKLab, compared to three decimals.
const known: ReadonlyArray<readonly [colour: string, lab: Oklab]> = [
  ['#ffffff', [1, 0, 0]],
  ['#000000', [0, 0, 0]],
  ['#ff0000', [0.628, 0.2249, 0.1258]],
  ['#00ff00', [0.8664, -0.2339, 0.1795]],
  ['#0000ff', [0.452, -0.0325, -0.3115]],
  ['#808080', [0.5999, 0, 0]],
]

test.each(known)('the colour %s is converted to its known OKLab values', (colour, lab) => {
  const found = toOklab(...toLinearRgb(colour))
  found.forEach((part, at) => expect(part).toBeCloseTo(lab[at] ?? Number.NaN, 3))
})

test('the sRGB byte 188 is converted to about half of the full linear light, and the conversion is linear near black', () => {
  expect([LINEAR[0], LINEAR[255]]).toEqual([0, 1])
  expect(LINEAR[188]).toBeCloseTo(0.5029, 4)
  expect(LINEAR[10]).toBeCloseTo(10 / 255 / 12.92, 6)
})
