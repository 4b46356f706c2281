/** Loaded before the wall, takes its fast libraries for signatures away. */

import { plugin } from 'bun'

plugin({
  name: 'only-viem',
  setup(build) {
    for (const library of ['secp256k1/bindings.js', 'tiny-secp256k1'])
      build.module(library, () => {
        throw new Error('taken away')
      })
  },
})
