/** Leaves the comments and indents of shaders out of the page. */

import type { Plugin } from 'vite'

const SHADER = /\.(?:frag|vert)\?raw$/
const EXPORT = 'export default '

export const shaderPlugin: Plugin = {
  name: 'shaders',
  transform(code, id) {
    if (!SHADER.test(id) || !code.startsWith(EXPORT)) return undefined
    const source: string = JSON.parse(code.slice(EXPORT.length))
    const short = source.replaceAll(/\/\/.*$/gm, '').replaceAll(/\s*\n\s*/g, '\n')
    return `${EXPORT}${JSON.stringify(short.trim())}`
  },
}
