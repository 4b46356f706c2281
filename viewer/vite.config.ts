import { build, defineConfig, type Plugin, type UserConfig } from 'vite'
import { reglPlugin } from './regl-plugin.ts'
import { shaderPlugin } from './shader-plugin.ts'
import { zoomButtonsPlugin } from './zoom-buttons-plugin.ts'

const pages = {
  // Every file but the pages lies under a hashed name, so that it can be cached for ever and no data: URL is needed.
  assetsInlineLimit: 0,
  modulePreload: { polyfill: false },
} satisfies UserConfig['build']

const OFFLINE = 'offline-worker'

/**
 * Builds the page for painting after the wall's own. One build of both would cut what they share into files of their own,
 * and the wall would wait for more requests.
 */
const paintPage: Plugin = {
  name: 'paint-page',
  apply: 'build',
  async writeBundle({ dir }) {
    const { root } = this.environment.config
    await build({
      root,
      configFile: false,
      plugins: [zoomButtonsPlugin],
      logLevel: 'error',
      build: {
        ...pages,
        ...(dir === undefined ? {} : { outDir: dir }),
        emptyOutDir: false,
        rolldownOptions: { input: `${root}/paint.html`, output: { codeSplitting: false } },
      },
    })
  },
}

export default defineConfig({
  resolve: { alias: { regl: 'regl/dist/regl.unchecked.js' } },
  build: {
    ...pages,
    outDir: '../dist/viewer',
    emptyOutDir: true,
    rolldownOptions: {
      input: [`${import.meta.dirname}/index.html`, `${import.meta.dirname}/offline-worker.ts`],
      // A service worker serves what lies below its own address, which must stay the same.
      output: { entryFileNames: ({ name }) => (name === OFFLINE ? '[name].js' : 'assets/[name]-[hash].js') },
    },
  },
  plugins: [reglPlugin, shaderPlugin, zoomButtonsPlugin, paintPage],
})
