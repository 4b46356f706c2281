/** Shares the current view as a link, as a picture, or as a frame in another page. */

import { formatTitle } from '../../shared/titles.ts'
import { type BlockIndex, formatCoord } from '../../shared/wall.ts'
import type { Rect } from '../camera/camera.ts'
import { readWallName } from '../page-words.ts'
import type { Page, PanelContent } from '../page.ts'
import { type State, findOpenWork, findShownBlock, selectShownWall } from '../state.ts'
import { createColourTable } from '../theme.ts'
import { buildAddress } from '../url-state.ts'
import { type Artwork, listBlocks, computeBounds } from '../wall/artworks.ts'
import { createImage } from '../wall/pixel-buffer.ts'
import { createCopyButton, copyText, saveFile } from './copy-and-save.ts'
import { createButton, createElement } from './dom.ts'
import { showToast } from './messages.ts'

// A saved picture is enlarged by up to the factor `PICTURE_SCALE`, as long as its sides have at most `PICTURE_SIDE_MAX`
// pixels.
const PICTURE_SCALE = 24
const PICTURE_SIDE_MAX = 2400

/** Buttons that copy the link, save pictures, and copy the embed code. */
export function createShare(page: Page): PanelContent {
  const formatLink = () => location.origin + location.pathname + buildAddress(page.getState(), location.search)
  const embedding = createElement('code')
  const copyEmbedding = createCopyButton('Copy embed code', () => embedding.textContent)
  const pictures = createElement('div.stack')
  const fillContent = (state: State) => {
    embedding.textContent = `<iframe src="${renderEmbed(formatLink())}" width="800" height="450" title="${readWallName().replaceAll('"', '&quot;')}"></iframe>`
    pictures.replaceChildren(...createPictureButtons(page, state))
  }
  return {
    title: 'Share',
    body: [
      createElement('p', 'The link opens what you see now: position, open details, selected agent and point in time.'),
      createElement('div.stack', createCopyButton('Copy link', formatLink)),
      createElement('h3', 'Pictures'),
      pictures,
      createElement('h3', 'Embed in another page'),
      createElement('pre', embedding),
      createElement('div.stack', copyEmbedding),
    ],
    update(state, before) {
      const same = state !== before && findShownBlock(state) === findShownBlock(before) && state.agent === before.agent
      if (!same || state.camera !== before.camera) fillContent(state)
    },
  }
}

function renderEmbed(link: string): string {
  const url = new URL(link)
  url.searchParams.set('embed', '1')
  return url.href.replaceAll('%2C', ',')
}

function createPictureButtons(page: Page, state: State): HTMLElement[] {
  const saveView = () => page.captureStage().toBlob((blob) => saveFile(blob, 'pixel-wall.png'))
  const buttons = page.isOnGpu() ? [createButton('', ['Save PNG of this view'], saveView)] : []
  const { wall, pinned, agent } = state
  if (wall === undefined) return buttons
  const addPicture = (label: string, blocks: readonly BlockIndex[], name: string) =>
    buttons.push(createButton('', [label], () => savePicture(page, computeBounds(blocks), `pixel-wall-${name}.png`)))
  if (pinned !== undefined) {
    addPicture(`Save PNG of block ${formatCoord(pinned)}`, [pinned], formatCoord(pinned).replace(',', '-'))
    const work = findOpenWork(state)
    if (work.length > 1)
      addPicture('Save PNG of the whole artwork', work, `work-${formatCoord(pinned).replace(',', '-')}`)
  }
  if (agent !== undefined)
    addPicture('Save PNG of this agent’s blocks', listBlocks(wall, agent), `agent-${wall.agents[agent]?.id}`)
  return buttons
}

function savePicture(page: Page, area: Rect, name: string) {
  const wall = selectShownWall(page.getState())
  if (wall === undefined) return
  const image = createImage(wall.texture, area, createColourTable(page.appearance.getTheme()))
  const scale = Math.max(1, Math.min(PICTURE_SCALE, Math.floor(PICTURE_SIDE_MAX / Math.max(image.width, image.height))))
  const [width, height] = [image.width * scale, image.height * scale]
  const canvas = Object.assign(createElement('canvas'), { width, height })
  const context = canvas.getContext('2d')
  if (context === null) return
  context.putImageData(image, 0, 0)
  context.imageSmoothingEnabled = false
  context.drawImage(canvas, 0, 0, image.width, image.height, 0, 0, width, height)
  canvas.toBlob((blob) => saveFile(blob, name))
}

/** Shares an artwork through the system's share sheet on a phone, or else copies its link. */
export function shareWork({ message, blocks: [first] }: Artwork) {
  const query = first === undefined ? '' : `?work=${formatCoord(first)}`
  const shared = { title: formatTitle(message), url: `${location.origin}/${query}` }
  const isPhone = window.matchMedia('(pointer: coarse)').matches
  // The promise rejects when the user closes the sheet.
  if (isPhone && 'share' in navigator) return void navigator.share(shared).catch(() => {})
  void copyText(shared.url).then((copied) => showToast(copied ? 'Link copied.' : shared.url))
}
