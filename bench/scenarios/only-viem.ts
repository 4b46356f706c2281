/** Loaded before the wall, takes its fast library for signatures away. */

import { plugin } from 'bun'

plugin({
  name: 'only-viem',
  setup(build) {
    build.module('secp256k1/bindings.js', () => {
      throw new Error('taken away')
    })
  },
})
