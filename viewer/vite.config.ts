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

/** Builds the view for chats into one file, since a host shows it in a frame that has no address to load others from. */
const chatView: Plugin = {
  name: 'chat-view',
  apply: 'build',
  async writeBundle({ dir = '' }) {
    const { root } = this.environment.config
    await build({
      root,
      configFile: false,
      plugins: [zoomButtonsPlugin, inOneFile],
      logLevel: 'error',
      build: { ...pages, outDir: dir, emptyOutDir: false, rolldownOptions: { input: `${root}/chat.html` } },
    })
  },
}

/** Moves the script and the styles of a page into its HTML. */
const inOneFile: Plugin = {
  name: 'in-one-file',
  enforce: 'post',
  generateBundle(_, bundle) {
    const files = Object.values(bundle)
    const page = files.find(({ fileName }) => fileName.endsWith('.html'))
    if (page?.type !== 'asset') throw new Error('the build has no page')
    let html = String(page.source)
    for (const file of files) {
      if (file === page) continue
      const content = file.type === 'chunk' ? file.code.replaceAll('</script', '<\\/script') : String(file.source)
      const [tag, inline] =
        file.type === 'chunk'
          ? [/<script[^>]*src="[^"]*"[^>]*><\/script>/, `<script type="module">${content}</script>`]
          : [/<link rel="stylesheet"[^>]*>/, `<style>${content}</style>`]
      html = html.replace(tag, () => inline)
      delete bundle[file.fileName]
    }
    page.source = html
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
  plugins: [reglPlugin, shaderPlugin, zoomButtonsPlugin, paintPage, chatView],
})
