/**
 * Replaces key recovery with a look-up, if it is loaded before the wall. The file WALL_KEYS has the key of each
 * signature.
 */

import { plugin } from 'bun'

const file = Bun.env['WALL_KEYS'] ?? ''
const lines = (await Bun.file(file).text()).split('\n').map((line) => line.split(' '))
const keys = new Map(lines.map(([rs = '', key = '']) => [rs, Uint8Array.fromHex(key)]))

const { default: native } = await import('secp256k1/bindings.js')

plugin({
  name: 'no-verify',
  setup(build) {
    build.module('secp256k1/bindings.js', () => {
      const ecdsaRecover: typeof native.ecdsaRecover = (rs, ...rest) =>
        keys.get(rs.toHex()) ?? native.ecdsaRecover(rs, ...rest)
      return { exports: { default: { ecdsaRecover } }, loader: 'object' }
    })
  },
})
