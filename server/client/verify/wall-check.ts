/** Whether a wall's deeds, its feed and its canvas agree. */

import { listAreaBlocks, parseArea } from '../../../shared/area.ts'
import type { SaleDeed } from '../../../shared/contract/deeds.ts'
import { formatCoord, isBlockIndex, parseCoord } from '../../../shared/wall.ts'
import type { Claims } from './claims.ts'
import type { Finding, FindingKind } from './verdict.ts'

/** A deed with its sold blocks, row by row; no blocks if its position is not valid. */
export type CoveringDeed = SaleDeed & { readonly covers: readonly string[] }

export function addCoveredBlocks(deed: SaleDeed): CoveringDeed {
  const { blocks } = deed
  if ('coord' in blocks) return { ...deed, covers: parseCoord(blocks.coord) === undefined ? [] : [blocks.coord] }
  const area = parseArea(`${blocks.at},${blocks.w}x${blocks.h}`)
  return { ...deed, covers: area === undefined ? [] : listAreaBlocks(area).map(formatCoord) }
}

/** A deed's number and position, in a finding. */
export const formatDeed = ({ seq, blocks }: SaleDeed): string =>
  `deed ${seq} (${'coord' in blocks ? blocks.coord : `${blocks.at},${blocks.w}x${blocks.h}`})`

/**
 * Finds blocks whose sale, display or owner differs from their deeds. Also finds sales without a deed, and a payment
 * address that the wall does not list with its deeds.
 */
export function checkWall(
  { sales, shown, lastShown, payTo, asksAt }: Claims,
  deeds: readonly CoveringDeed[],
): readonly Finding[] {
  const findings: Finding[] = []
  const addFinding = (kind: FindingKind, message: string) => findings.push({ kind, message })
  if (asksAt !== undefined && !payTo.some((address) => address.toLowerCase() === asksAt.toLowerCase()))
    addFinding('another_address', `the wall asks to be paid at ${asksAt}, which it does not list with its deeds`)
  const soldBy = new Map<string, CoveringDeed>()
  let next = 1
  for (const deed of deeds) {
    if (deed.seq > next) addFinding('sale_without_deed', `sales ${next} to ${deed.seq - 1} have no deed`)
    next = Math.max(next, deed.seq + deed.covers.length)
    for (const coord of deed.covers) {
      const other = soldBy.get(coord)
      if (other === undefined) soldBy.set(coord, deed)
      else
        addFinding(
          'block_sold_twice',
          `block ${coord} was sold twice, in ${formatDeed(other)} and in ${formatDeed(deed)}`,
        )
    }
  }
  const onCanvas = new Map(
    shown.flatMap(({ i, wallet }) => (isBlockIndex(i) ? [[formatCoord(i), wallet] as const] : [])),
  )
  const inFeed = sales.map(({ coord, agent }) => [coord, agent.wallet] as const)
  for (const [coord, wallet] of new Map<string, string>([...inFeed, ...onCanvas])) {
    const deed = soldBy.get(coord)
    if (deed === undefined) addFinding('block_without_deed', `block ${coord} is shown as ${wallet}’s, but has no deed`)
    else if (deed.wallet !== wallet)
      addFinding('another_owner', `block ${coord} is shown as ${wallet}’s, but ${formatDeed(deed)} is ${deed.wallet}’s`)
  }
  const isShown = new Set<string>(onCanvas.keys())
  for (const [coord, deed] of soldBy)
    if (deed.seq + deed.covers.length - 1 <= lastShown && !isShown.has(coord))
      addFinding('block_not_shown', `block ${coord} was sold by ${formatDeed(deed)}, but is not on the wall`)
  return findings
}
