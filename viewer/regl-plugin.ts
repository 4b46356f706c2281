/**
 * Builds regl into the page without its code generator, which a strict content security policy forbids, and without
 * features that the wall never uses.
 */

import type { Plugin } from 'vite'

const UNCHECKED = /regl\.unchecked\.js$/

// regl's file is one function around all of its code; the core, which generates code, is a single function inside it.
const HEAD = /^\(function \(global, factory\) \{[\s\S]*?'use strict';/
const TAIL = /\}\)\)\);\s*$/
const CORE = /\nfunction reglCore \([\s\S]*?\n\}\n(?=\nfunction stats \()/

// regl queries the driver for the status of each new framebuffer. This would block the page, and is unnecessary,
// because framebuffers with 8-bit channels are complete everywhere.
const STATUS = /\n *\/\/ Check status code\n[^}]*\}\n/
const ERROR = /\n *\/\/ [A-Z]+: Clear error code here[^\n]*\n[^\n]*\n *gl\.getError\(\)\n/

/** A pattern that matches a function up to its closing brace, which is indented like the first line. */
const createBodyPattern = (head: string) => new RegExp(`\\n( *)${head} \\([\\s\\S]*?\\n\\1\\}\\n`)

// The unused parts are more than a third of regl: elements, attributes, shaders, renderbuffers, cubes, timers, pixel
// reads, and driver queries at startup, which would block the page.
const REPLACED = {
  'function wrapElementsState': 'unused',
  'function wrapAttributeState': 'unused',
  'function wrapShaderState': 'unused',
  'function wrapReadPixels': 'unused',
  'var wrapRenderbuffers = function': 'unused',
  'var createTimer = function': 'unused',
  'function createTextureCube': 'unused',
  'function createCubeFBO': 'unused',
  'var wrapLimits = function': 'limits',
  'function createExtensionCache': 'noExtensions',
}

const drawCalls = new URL('gl/draw-calls.ts', import.meta.url).pathname

const ownCore = `
function reglCore (gl, strings, extensions, limits, buffers, elements, textures, framebuffers, uniforms, attributes, shaders) {
  return drawCalls({ gl, buffers, framebuffers })
}
`

const ownHead = `import { drawCalls } from ${JSON.stringify(drawCalls)}
const unused = { clear() {}, restore() {}, update() {}, destroyBuffer() {} }
const noExtensions = { extensions: {}, restore() {} }
// The limits that every WebGL implementation supports.
const limits = { maxTextureUnits: 8, maxColorAttachments: 1, extensions: [] }
export default (function () {`

/**
 * Turns regl's unchecked build into a module with draw-calls.ts as its core; throws if that build is not as expected.
 */
export const reglPlugin: Plugin = {
  name: 'regl-without-generated-code',
  enforce: 'pre',
  transform(source, id) {
    if (!UNCHECKED.test(id)) return undefined
    const parts = [
      [CORE, ownCore],
      [STATUS, '\n'],
      [ERROR, '\n'],
      ...Object.entries(REPLACED).map(
        ([head, own]) => [createBodyPattern(head), `\n${head} () { return ${own} }\n`] as const,
      ),
      [HEAD, ownHead],
      [TAIL, '})()'],
    ] as const
    return parts.reduce((text, [part, own]) => {
      if (!part.test(text)) throw new Error(`unexpected regl build: no match for ${part}`)
      return text.replace(part, () => own)
    }, source)
  },
}
