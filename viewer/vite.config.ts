import { build, defineConfig, type Plugin, type UserConfig } from 'vite'
import { reglPlugin } from './regl-plugin.ts'

const pages = {
  // Assets are separate files with hashed names, so that browsers can cache them permanently and no data: URL is
  // needed.
  assetsInlineLimit: 0,
  modulePreload: { polyfill: false },
} satisfies UserConfig['build']

const OFFLINE = 'offline-worker'

/**
 * Builds another page after the wall's page. One build of both would split shared code into separate files, and the
 * wall would wait for more requests.
 */
const createPagePlugin = (file: string, ...plugins: readonly Plugin[]): Plugin => ({
  name: file,
  apply: 'build',
  async writeBundle({ dir = '' }) {
    const { root } = this.environment.config
    const rolldownOptions = { input: `${root}/${file}`, output: { codeSplitting: false } }
    await build({
      root,
      configFile: false,
      plugins: [sharedParts, stylesInPage, ...plugins],
      logLevel: 'error',
      build: { ...pages, outDir: dir, emptyOutDir: false, rolldownOptions },
    })
  },
})

/** Moves the styles that a page waits for into its HTML, which saves a request before the first drawing. */
const stylesInPage: Plugin = {
  name: 'styles-in-page',
  enforce: 'post',
  generateBundle(_, bundle) {
    for (const page of Object.values(bundle)) {
      if (page.type !== 'asset' || !page.fileName.endsWith('.html')) continue
      page.source = String(page.source).replaceAll(
        / *<link rel="stylesheet"[^>]*href="\/([^"]+)"[^>]*>\n?/g,
        (_tag, name) => {
          const style = bundle[name]
          delete bundle[name]
          return style?.type === 'asset' ? `<style>${String(style.source).trim()}</style>\n` : ''
        },
      )
    }
  },
}

/**
 * Moves the script of a page into its HTML, because a chat shows the page in a frame without an address to load scripts
 * from.
 */
const scriptInPage: Plugin = {
  name: 'script-in-page',
  enforce: 'post',
  generateBundle(_, bundle) {
    const files = Object.values(bundle)
    const page = files.find(({ fileName }) => fileName.endsWith('.html'))
    if (page?.type !== 'asset') throw new Error('the build has no page')
    for (const file of files) {
      if (file === page) continue
      if (file.type !== 'chunk') throw new Error(`cannot inline ${file.fileName}: it is not a script`)
      const content = file.code.replaceAll('</script', '<\\/script')
      const inline = `<script type="module">${content}</script>`
      page.source = String(page.source).replace(/<script[^>]*src="[^"]*"[^>]*><\/script>/, () => inline)
      delete bundle[file.fileName]
    }
  },
}

const SHADER = /\.(?:frag|vert)\?raw$/
const EXPORT = 'export default '

/** Removes comments and indentation from shaders. */
const shaders: Plugin = {
  name: 'shaders',
  transform(code, id) {
    if (!SHADER.test(id) || !code.startsWith(EXPORT)) return undefined
    const source: string = JSON.parse(code.slice(EXPORT.length))
    const short = source.replaceAll(/\/\/.*$/gm, '').replaceAll(/\s*\n\s*/g, '\n')
    return `${EXPORT}${JSON.stringify(short.trim())}`
  },
}

/**
 * The parts that several pages share, keyed by the comments that they replace. The notice that the script did not load
 * appears after some seconds, unless a script has hidden it.
 */
const SHARED = {
  '<!-- head -->': `<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
<meta name="color-scheme" content="dark light" />
<meta name="theme-color" content="#13110f" media="(prefers-color-scheme: dark)" />
<meta name="theme-color" content="#e5dfd5" media="(prefers-color-scheme: light)" />
<link rel="icon" type="image/svg+xml" href="./favicon.svg" />
<link rel="stylesheet" href="./styles/page.css" />`,
  '<!-- zoom buttons -->': `<div class="zoom" role="group" aria-label="Zoom">
  <button type="button" id="zoom-out" aria-label="Zoom out">
    <svg viewBox="0 0 16 16" aria-hidden="true"><path d="M3.5 8h9" /></svg>
  </button>
  <button type="button" id="zoom-in" aria-label="Zoom in">
    <svg viewBox="0 0 16 16" aria-hidden="true"><path d="M3.5 8h9M8 3.5v9" /></svg>
  </button>
  <button type="button" id="fit" aria-label="Show the whole wall">
    <svg viewBox="0 0 16 16" aria-hidden="true"><path d="M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4" /></svg>
  </button>
</div>`,
  '<!-- notice -->': `<div id="notice" role="alert" class="late">
  <div class="message">
    <p>This page’s script did not load.</p>
    <p><a href="">Reload the page</a>, or see <a href="/atlas">all artworks and agents</a> without the script.</p>
  </div>
</div>`,
}

/** Inserts the shared parts into each page. */
const sharedParts: Plugin = {
  name: 'shared-parts',
  transformIndexHtml: {
    order: 'pre',
    handler: (html) => Object.entries(SHARED).reduce((text, [place, part]) => text.replace(place, part), html),
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
      // A service worker controls only the paths below its own address, so its file stays in the root.
      output: { entryFileNames: ({ name }) => (name === OFFLINE ? '[name].js' : 'assets/[name]-[hash].js') },
    },
  },
  plugins: [
    reglPlugin,
    shaders,
    sharedParts,
    stylesInPage,
    createPagePlugin('paint.html'),
    createPagePlugin('chat.html', scriptInPage),
  ],
})
