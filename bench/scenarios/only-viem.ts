/** Removes the wall's fast signature library, if it is loaded before the wall. */

import { plugin } from 'bun'

plugin({
  name: 'only-viem',
  setup(build) {
    build.module('secp256k1/bindings.js', () => {
      throw new Error('taken away')
    })
  },
})
