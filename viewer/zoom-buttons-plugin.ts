/** Builds the zoom buttons into both pages. */

import type { Plugin } from 'vite'

const PLACE = '<!-- zoom buttons -->'

const MARKUP = `<div class="zoom" role="group" aria-label="Zoom">
  <button type="button" id="zoom-out" aria-label="Zoom out">
    <svg viewBox="0 0 16 16" aria-hidden="true"><path d="M3.5 8h9" /></svg>
  </button>
  <button type="button" id="zoom-in" aria-label="Zoom in">
    <svg viewBox="0 0 16 16" aria-hidden="true"><path d="M3.5 8h9M8 3.5v9" /></svg>
  </button>
  <button type="button" id="fit" aria-label="Show the whole wall">
    <svg viewBox="0 0 16 16" aria-hidden="true"><path d="M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4" /></svg>
  </button>
</div>`

/** Puts the buttons into their place in a page. */
export const zoomButtonsPlugin: Plugin = {
  name: 'zoom-buttons',
  transformIndexHtml: { order: 'pre', handler: (html) => html.replace(PLACE, MARKUP) },
}
