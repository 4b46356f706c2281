/** Loaded before the wall, removes its fast signature library. */

import { plugin } from 'bun'

plugin({
  name: 'only-viem',
  setup(build) {
    build.module('secp256k1/bindings.js', () => {
      throw new Error('taken away')
    })
  },
})
