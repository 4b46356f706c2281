import { defineConfig } from 'vite'

export default defineConfig({
  // regl's default entry carries its checked build, a third larger.
  resolve: { alias: { regl: 'regl/dist/regl.min.js' } },
  build: {
    outDir: '../dist/viewer',
    emptyOutDir: true,
    // Every file but index.html lies under a hashed name, so that it can be cached for ever and no data: URL is needed.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})
