/**
 * Colour conversions between sRGB bytes, linear light, and OKLab (Björn Ottosson, 2020), in which distance corresponds
 * to perceived difference.
 */

/** Linear light of each sRGB byte, 0 to 1 (IEC 61966-2-1). */
export const LINEAR: Float32Array = Float32Array.from({ length: 256 }, (_, byte) => toLinear(byte / 255))

/** Lightness from 0 to 1, green to red, blue to yellow. */
export type Oklab = readonly [L: number, a: number, b: number]

/** OKLab of linear light. */
export function toOklab(red: number, green: number, blue: number): Oklab {
  const long = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
  const medium = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
  const short = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
  return [
    0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short,
    1.9779984951 * long - 2.428592205 * medium + 0.4505937099 * short,
    0.0259040371 * long + 0.7827717662 * medium - 0.808675766 * short,
  ]
}

/** `#rrggbb` as linear light. */
export function toLinearRgb(colour: string): readonly [red: number, green: number, blue: number] {
  const value = Number.parseInt(colour.slice(1), 16)
  return [getLight(value >> 16), getLight((value >> 8) & 255), getLight(value & 255)]
}

const getLight = (byte: number) => LINEAR[byte] ?? 0

function toLinear(level: number): number {
  return level <= 0.04045 ? level / 12.92 : ((level + 0.055) / 1.055) ** 2.4
}
