/** Draws the state on the stage's canvas: uploads changes, draws on request, recovers from the loss of the GPU. */

import type { BlockIndex } from '../../shared/wall.ts'
import { differsIn, findShownBlock, selectShownWall, type State } from '../state.ts'
import type { Theme } from '../theme.ts'
import { listBlocks, findWork } from '../wall/artworks.ts'
import { renderOverlay } from '../wall/overlay.ts'
import { fitCanvas, createFrame } from './frame.ts'
import { createRenderer, openWebGl, type Renderer } from './renderer.ts'

/** A renderer of the state on a canvas; it calls `ask` if it must draw again although the state is unchanged. */
export function createStageRenderer(canvas: HTMLCanvasElement, state: () => State, first: Theme, ask: () => void) {
  let theme = first
  let marked: readonly BlockIndex[] = [] // the blocks with a line around them
  const surface = createSurface(canvas, ask, (renderer) => {
    marked = listMarkedBlocks(state())
    renderer.setTheme(theme)
    // The background is drawn immediately, because an empty canvas is black.
    if (state().wall === undefined) renderer.drawBackground()
    uploadChanges(renderer, state(), undefined, theme)
    renderer.setMarks(marked)
    ask()
  })

  return {
    /** Uploads the differences between two states. */
    update(next: State, before: State) {
      const { renderer } = surface
      if (renderer === undefined) return
      uploadChanges(renderer, next, before, theme)
      if (!hasOtherMarks(next, before)) return
      const marks = listMarkedBlocks(next)
      if (!areEqual(marks, marked)) renderer.setMarks(marks)
      marked = marks
    },
    setTheme(other: Theme) {
      theme = other
      surface.renderer?.setTheme(theme)
      if (surface.renderer && state().wall) uploadOverlay(surface.renderer, state(), theme)
    },
    /** Draws immediately; returns whether the wall is drawn. */
    draw(): boolean {
      const { wall, camera, view } = state()
      if (wall === undefined) {
        surface.renderer?.drawBackground()
        return false
      }
      surface.measureFrame()
      // An artwork of several blocks is marked with its own line, so the shown block needs no outline.
      const outlined = marked.length > 0 ? undefined : findShownBlock(state())
      return surface.renderer?.draw(createFrame(camera, view, canvas.width / view.width, outlined)) ?? false
    },
    /** Sets the canvas to the size of its stage, in device pixels. */
    resize: () => fitCanvas(canvas, state().view),
    isOnGpu: surface.isOnGpu,
  }
}

/**
 * Chooses the renderer of a canvas: the GPU if it is fast enough, or else the fallback. Passes each renderer to
 * `onFound`.
 */
function createSurface(canvas: HTMLCanvasElement, ask: () => void, onFound: (renderer: Renderer) => void) {
  let renderer: Renderer | undefined
  let onGpu = true

  const installRenderer = (found: Renderer) => {
    renderer = found
    onFound(found)
  }
  // The fallback is loaded only in the few browsers that need it. While it loads, the GPU's last picture stays visible.
  const fallBack = async () => {
    onGpu = false
    const { createFallback } = await import('./canvas-2d-fallback.ts')
    // The stage's canvas still receives the input, in front of the fallback.
    if (renderer !== undefined) canvas.style.opacity = '0'
    destroyRenderer()
    const fallback = createFallback(canvas)
    if (fallback) installRenderer(fallback)
  }
  const startRenderer = () => {
    const gpu = openWebGl(canvas)
    // The renderer is created in a task of its own, so that neither its creation nor the search for a GPU keeps a slow
    // machine busy for long.
    if (gpu) setTimeout(() => installRenderer(createRenderer(gpu, ask)))
    else void fallBack()
  }
  const destroyRenderer = () => {
    renderer?.destroy()
    renderer = undefined
  }
  const measureGpuFrame = watchFrames(() => {
    if (onGpu && renderer !== undefined) void fallBack()
  })
  canvas.addEventListener('webglcontextlost', (event) => {
    // Without this call, the browser would not restore the context.
    event.preventDefault()
    if (onGpu) destroyRenderer()
  })
  canvas.addEventListener('webglcontextrestored', () => onGpu && startRenderer())
  // The search for a GPU also runs in a task of its own, after the start of the page.
  setTimeout(startRenderer)
  return {
    /** The current renderer, if there is one. */
    get renderer() {
      return renderer
    },
    isOnGpu: () => onGpu,
    /** Starts the measurement of a frame; must be called before each drawing. */
    measureFrame: () => onGpu && measureGpuFrame(),
  }
}

// Longer than the frame interval of any screen, in milliseconds. One slow frame proves nothing, so the renderer is
// replaced only after many slow frames in a row.
const SLOW_MS = 80
const SLOW_IN_A_ROW = 12

/** Must be called before each drawing; calls `onSlow` if many frames in a row are slow, as with software rendering. */
function watchFrames(onSlow: () => void): () => void {
  let slow = 0
  return () => {
    const begun = performance.now()
    requestAnimationFrame(() => {
      slow = performance.now() - begun >= SLOW_MS ? slow + 1 : 0
      if (slow >= SLOW_IN_A_ROW) onSlow()
    })
  }
}

/** Uploads the differences between two states, or everything if there was no wall before. */
function uploadChanges(renderer: Renderer, next: State, before: State | undefined, theme: Theme) {
  const [wall, wallBefore] = [selectShownWall(next), before && selectShownWall(before)]
  if (wall === undefined) return
  if (wall !== wallBefore) {
    // `changed` is relative to the previous wall. If the texture is not the previous wall's, all of it must be
    // uploaded.
    if (wall.changed && wall.texture === wallBefore?.texture) renderer.setBlocks(wall.texture, wall.changed)
    else renderer.setTexture(wall.texture)
  }
  const isOverlaid = hasOverlay(next) || (before !== undefined && hasOverlay(before))
  if (!before?.wall || (isOverlaid && differsIn(next, before, 'wall', 'overlay', 'agent', 'at', 'past')))
    uploadOverlay(renderer, next, theme)
}

function uploadOverlay(renderer: Renderer, state: State, theme: Theme) {
  if (state.wall) renderer.setOverlay(renderOverlay(state.wall, state, theme))
}

const hasOverlay = ({ overlay, agent, at }: State) => overlay !== 'none' || agent !== undefined || at !== undefined

/** The blocks to mark: the artwork with the shown block, or else all artworks of the selected agent. */
function listMarkedBlocks(state: State): readonly BlockIndex[] {
  const { wall, agent, at } = state
  if (wall === undefined) return []
  const block = findShownBlock(state)
  if (block !== undefined) {
    const work = findWork(wall, block, at)
    // A single block has its own outline.
    if (work.length > 1 || agent === undefined) return work.length > 1 ? work : []
  }
  const marked = agent === undefined ? [] : listBlocks(wall, agent)
  return at === undefined ? marked : marked.filter((index) => (wall.claims.get(index)?.t ?? Infinity) <= at)
}

const hasOtherMarks = (a: State, b: State) =>
  differsIn(a, b, 'wall', 'agent', 'at') || findShownBlock(a) !== findShownBlock(b)

const areEqual = (a: readonly BlockIndex[], b: readonly BlockIndex[]) =>
  a.length === b.length && a.every((block, i) => block === b[i])
