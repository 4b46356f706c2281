/** Builds regl into the page without its code generator, which a strict content policy forbids. */

import type { Plugin } from 'vite'

const UNCHECKED = /regl\.unchecked\.js$/

// The file is one function around all of regl; its core, which generates code, is one function within.
const HEAD = /^\(function \(global, factory\) \{[\s\S]*?'use strict';/
const TAIL = /\}\)\)\);\s*$/
const CORE = /\nfunction reglCore \([\s\S]*?\n\}\n(?=\nfunction stats \()/

const drawCalls = new URL('gl/draw-calls.ts', import.meta.url).pathname

const ownCore = `
function reglCore (gl, strings, extensions, limits, buffers, elements, textures, framebuffers, uniforms, attributes, shaders) {
  return drawCalls({ gl, buffers, framebuffers })
}
`

/** The build without regl's checks, as a module, with draw-calls.ts for its core; throws where the file is not as expected. */
export const reglPlugin: Plugin = {
  name: 'regl-without-generated-code',
  enforce: 'pre',
  transform(source, id) {
    if (!UNCHECKED.test(id)) return undefined
    for (const part of [HEAD, TAIL, CORE]) if (!part.test(source)) throw new Error(`regl is built otherwise: ${part}`)
    return source
      .replace(CORE, () => ownCore)
      .replace(HEAD, () => `import { drawCalls } from ${JSON.stringify(drawCalls)}\nexport default (function () {`)
      .replace(TAIL, () => '})()')
  },
}
