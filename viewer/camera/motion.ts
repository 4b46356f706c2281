/** Animations of the camera: the glide after a drag, and the flight to a target. Times are in milliseconds. */

import { clampCamera, pan, type Camera, type Point, type View } from './camera.ts'

export type Motion =
  | { readonly kind: 'glide'; readonly vx: number; readonly vy: number } // CSS pixels per millisecond
  | { readonly kind: 'flight'; readonly to: Camera }

/** A position of the pointer, and the time at which it was there, in milliseconds. */
export type Moment = Point & { readonly time: number }

export type Moved = { readonly camera: Camera; readonly motion: Motion | undefined }

// The times in which a glide loses two thirds of its speed, and a flight covers two thirds of its distance.
const GLIDE_MS = 180
const FLIGHT_MS = 75

const SLOWEST_PX_PER_MS = 0.02
const NEAR_PX = 0.5
const NEAR_ZOOM = 0.002

// The speed of a throw is measured over this time at the end of a drag; if the pointer rests that long, the wall does
// not glide.
const THROW_MS = 80
const THROW_SLOWEST_PX_PER_MS = 0.15

// The longest time by which one step advances a motion, so that the camera does not jump after the page was suspended.
const STEP_MAX_MS = 64

/** The camera after `ms` of a motion; the returned `motion` is undefined once the camera has come to rest. */
export function advanceMotion(camera: Camera, view: View, motion: Motion, ms: number): Moved {
  const time = Math.min(ms, STEP_MAX_MS)
  return motion.kind === 'glide'
    ? advanceGlide(camera, view, motion, time)
    : advanceFlight(camera, view, motion.to, time)
}

function advanceGlide(camera: Camera, view: View, { vx, vy }: { vx: number; vy: number }, ms: number): Moved {
  const kept = Math.exp(-ms / GLIDE_MS)
  // The time in which the initial speed covers the same distance as the exponentially decaying speed does in `ms`.
  const way = GLIDE_MS * (1 - kept)
  const moved = pan(camera, view, vx * way, vy * way)
  const stopped = moved.x === camera.x && moved.y === camera.y
  const rests = stopped || Math.hypot(vx, vy) * kept < SLOWEST_PX_PER_MS
  return { camera: moved, motion: rests ? undefined : { kind: 'glide', vx: vx * kept, vy: vy * kept } }
}

function advanceFlight(camera: Camera, view: View, goal: Camera, ms: number): Moved {
  const to = clampCamera(goal, view)
  if (isNear(camera, to)) return { camera: to, motion: undefined }
  const share = 1 - Math.exp(-ms / FLIGHT_MS)
  const zoom = camera.zoom * (to.zoom / camera.zoom) ** share
  const next = clampCamera(
    { x: camera.x + (to.x - camera.x) * share, y: camera.y + (to.y - camera.y) * share, zoom },
    view,
  )
  return { camera: next, motion: { kind: 'flight', to } }
}

const isNear = (camera: Camera, to: Camera) =>
  Math.abs(camera.zoom / to.zoom - 1) < NEAR_ZOOM &&
  Math.hypot(to.x - camera.x, to.y - camera.y) * Math.max(camera.zoom, to.zoom) < NEAR_PX

/**
 * The speed at the end of a drag, in CSS pixels per millisecond; `undefined` if the pointer had come to rest or was too
 * slow.
 */
export function computeThrowSpeed(trail: readonly Moment[], now: number): { vx: number; vy: number } | undefined {
  const recent = trail.filter(({ time }) => now - time < THROW_MS)
  const [first] = recent
  const last = recent.at(-1)
  if (first === undefined || last === undefined || last.time <= first.time) return undefined
  const ms = last.time - first.time
  const speed = { vx: (last.x - first.x) / ms, vy: (last.y - first.y) / ms }
  return Math.hypot(speed.vx, speed.vy) < THROW_SLOWEST_PX_PER_MS ? undefined : speed
}
