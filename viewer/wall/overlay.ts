/**
 * The overlay: one colour with opacity for each block (160 x 90 RGBA), so that a change costs 57 kB and one draw call.
 */

import { formatCount } from '../../shared/money.ts'
import { ALL_BLOCKS, TOTAL_BLOCKS } from '../../shared/wall.ts'
import { parseColour, type Theme } from '../theme.ts'
import { OPEN } from './pixel-buffer.ts'
import type { Wall } from './wall-model.ts'

/** The kinds of overlays. */
export type Overlay = 'none' | 'open' | 'framework'

export type OverlayState = {
  readonly overlay: Overlay
  readonly agent?: number | undefined // if set, all blocks except this agent's are dimmed
  readonly at?: number | undefined // Unix milliseconds; blocks sold later look open
  readonly past?: object | undefined // the wall at `at`, once it is rebuilt; in it, blocks sold later already look open
}

type Tint = readonly [number, number, number, number]

/** Red, green, blue and opacity of each block: `TOTAL_BLOCKS * 4` bytes. */
export type OverlayBytes = Uint8Array<ArrayBuffer>

// Opacities, from 0 to 255.
const TINT = 215
const DIM = 190

const clear: Tint = [0, 0, 0, 0]

/** The colours of the frameworks with the most blocks, beginning with the largest framework. */
export const FRAMEWORK_COLOURS = ['#e69f00', '#56b4e9', '#009e73', '#f0e442', '#4b7fd6', '#d55e00', '#cc79a7'] as const
const OTHER_COLOUR = '#9aa3ad'
const OPEN_COLOUR = '#2ec47c'

/** The tints of all blocks; transparent if there is no overlay, no selected agent and no past moment. */
export function renderOverlay(
  wall: Wall,
  { overlay, agent, at = Infinity, past }: OverlayState,
  theme: Theme,
): OverlayBytes {
  const bytes = new Uint8Array(TOTAL_BLOCKS * 4)
  if (overlay === 'none' && agent === undefined && at === Infinity) return bytes
  const dim: Tint = [...parseColour(theme.ground), DIM]
  const notYet: Tint = past === undefined ? [...parseColour(theme.own[OPEN] ?? theme.ground), 255] : clear
  const tint = createTint(wall, overlay, dim)
  for (const block of ALL_BLOCKS) {
    const claim = wall.claims.get(block)
    const sold = claim !== undefined && claim.t <= at
    if (agent !== undefined && claim?.a !== agent) bytes.set(sold || claim === undefined ? dim : notYet, block * 4)
    else if (!sold) bytes.set(overlay === 'none' && claim !== undefined ? notYet : tint(undefined), block * 4)
    else bytes.set(tint(claim), block * 4)
  }
  return bytes
}

type Claim = { readonly a: number; readonly t: number }

function createTint(wall: Wall, overlay: Overlay, dim: Tint): (claim: Claim | undefined) => Tint {
  switch (overlay) {
    case 'none':
      return () => clear
    case 'open':
      return (claim) => (claim === undefined ? [...parseColour(OPEN_COLOUR), TINT] : dim)
    case 'framework':
      return createFrameworkTint(wall, dim)
  }
}

function createFrameworkTint(wall: Wall, dim: Tint): (claim: Claim | undefined) => Tint {
  const colours = new Map(rankFrameworks(wall).map(({ name }, i) => [name, chooseFrameworkColour(i)]))
  const ofAgent = wall.agents.map(({ framework }) => parseColour(colours.get(framework) ?? OTHER_COLOUR))
  return (claim) => {
    const colour = claim && ofAgent[claim.a]
    return colour === undefined ? dim : [...colour, TINT]
  }
}

/** The frameworks by their agents' number of blocks, largest first; agents without a framework (`null`) come last. */
export function rankFrameworks({ agents }: Wall): { readonly name: string | null; readonly blocks: number }[] {
  const counts = new Map<string | null, number>()
  for (const { framework, blocks } of agents) counts.set(framework, (counts.get(framework) ?? 0) + blocks)
  const named = [...counts].map(([name, blocks]) => ({ name, blocks }))
  return named.toSorted((a, b) => Number(a.name === null) - Number(b.name === null) || b.blocks - a.blocks)
}

const chooseFrameworkColour = (rank: number) => FRAMEWORK_COLOURS[rank] ?? OTHER_COLOUR

/** The legend of an overlay: each colour with its text. */
export function createLegend(wall: Wall, overlay: Overlay): { readonly colour: string; readonly text: string }[] {
  switch (overlay) {
    case 'none':
      return []
    case 'open':
      return [{ colour: OPEN_COLOUR, text: `${formatCount(wall.stats.remaining)} available blocks` }]
    case 'framework': {
      const all = rankFrameworks(wall)
      const named = all.slice(0, FRAMEWORK_COLOURS.length)
      const rest = all.slice(named.length).reduce((sum, { blocks }) => sum + blocks, 0)
      const legends = named.map(({ name, blocks }, i) => ({
        colour: chooseFrameworkColour(i),
        text: `${name ?? 'no framework'} · ${formatCount(blocks)}`,
      }))
      return rest === 0 ? legends : [...legends, { colour: OTHER_COLOUR, text: `other · ${formatCount(rest)}` }]
    }
  }
}
