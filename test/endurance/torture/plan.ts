/** The events of each round: drawn from a seed, so that a run can be repeated. Only timing depends on the machine. */

import type { SettleFault } from '../../support/chain/faulty-facilitator.ts'
import { createPrng, type Prng } from '../../support/prng.ts'

/**
 * The additional fault of a round. `disk-limit`: files cannot grow, so commits fail; `disk-full`: the disk has no space
 * left; `chain-stands`: the chain produces no blocks; `chain-narrow`: the chain endpoint returns events of few blocks
 * per call; `deaf`: connections that listen for notifications are cut; `server-crash` and `server-restart`: the
 * database server is down.
 */
export type Trouble =
  | 'none'
  | 'facilitator-gone'
  | 'chain-gone'
  | 'chain-stands'
  | 'chain-narrow'
  | 'disk-limit'
  | 'disk-full'
  | 'deaf'
  | 'server-crash'
  | 'server-restart'

/** Which wall is killed, and how long after the round begins or the previously killed wall runs again. */
export type Kill = { readonly afterMs: number; readonly instance: number }

/** The order of a buyer: a block or an area of this size, and the interface that the buyer uses. */
export type Order = {
  readonly at: string
  readonly area?: Size
  readonly via: 'http' | 'mcp'
  readonly leaves: boolean // hangs up while its payment is settled, and signs a new one
}

/** Width and height in blocks; `painted` if it is bought with a picture to convert. */
type Size = { readonly w: number; readonly h: number; readonly painted: boolean }

/** The price of an order, in dollars. */
export const computePrice = ({ area }: Pick<Order, 'area'>): number => (area === undefined ? 1 : area.w * area.h)

export type Round = {
  readonly number: number
  readonly orders: readonly Order[]
  readonly copies: number // how many of the buyers send each request twice in parallel
  readonly kills: readonly Kill[]
  readonly trouble: Trouble
  readonly troubleAfterMs: number
  readonly troubleForMs: number
  readonly settleFaults: readonly SettleFault[]
}

/** How many buyers a round has by default. */
export const CROWD = 24

const faults: readonly SettleFault[] = [
  'hang-before',
  'hang-after',
  'error-json-after',
  'error-html-after',
  'error-before',
  'failed-after',
  'lost-hash-after',
  'pending-after',
  'invented-hash',
  'reset-before',
  'reset-after',
  'garbage-after',
]

/** The plan of a run, for one wall on SQLite or for several that share a PostgreSQL database. */
export function createPlan(seed: number, rounds: number, crowd = CROWD, instances?: number): readonly Round[] {
  const prng = createPrng(seed)
  return Array.from({ length: rounds }, (_, at): Round => {
    const number = at + 1
    const trouble = instances === undefined ? chooseFault(number) : chooseSharedFault(number)
    const orders = Array.from({ length: crowd }, (): Order => {
      // Some orders are for a few blocks at the edge, so that buyers collide there.
      const at = prng.nextBoolean(0.4)
        ? `${(number * 4 + prng.nextInt(6)) % 150},${Math.floor(number / 37) % 20}`
        : 'next'
      const via = prng.nextBoolean(0.4) ? 'mcp' : 'http'
      const leaves = prng.nextBoolean(0.3)
      return prng.nextBoolean(0.4) ? { at, via, leaves, area: drawSize(prng) } : { at, via, leaves }
    })
    return {
      number,
      orders,
      copies: prng.nextInt(8),
      kills: planKills(trouble, prng, instances ?? 1),
      trouble,
      troubleAfterMs: prng.nextInt(200),
      troubleForMs: 200 + prng.nextInt(600),
      // A settlement in doubt is checked again only seconds later, so most rounds have no settlement faults.
      settleFaults: number % 4 === 1 ? Array.from({ length: 12 }, () => prng.pick(faults)) : [],
    }
  })
}

const sizes = [
  [2, 1],
  [1, 2],
  [2, 2],
  [3, 2],
  [5, 4],
] as const

function drawSize(prng: Prng): Size {
  const [w, h] = prng.pick(sizes)
  return { w, h, painted: prng.nextBoolean(0.3) }
}

/**
 * With `disk-limit`, nothing is killed, because the wall exits on its own when a commit fails. With `disk-full`, the
 * kill comes late, because no wall can start without space.
 */
function planKills(trouble: Trouble, prng: Prng, instances: number): Kill[] {
  if (trouble === 'disk-limit') return []
  if (trouble === 'disk-full') return [{ afterMs: 1000 + prng.nextInt(400), instance: 0 }]
  const drawInstance = () => (instances === 1 ? 0 : prng.nextInt(instances))
  return Array.from({ length: 1 + prng.nextInt(2) }, () => ({
    afterMs: 5 + prng.nextInt(396),
    instance: drawInstance(),
  }))
}

function chooseChainFault(number: number): Trouble | undefined {
  if (number % 10 === 4) return 'chain-stands'
  return number % 10 === 9 ? 'chain-narrow' : undefined
}

function chooseFault(number: number): Trouble {
  if (number % 10 === 0) return 'disk-full'
  if (number % 10 === 7) return 'disk-limit'
  if (number % 5 === 3) return number % 2 === 1 ? 'facilitator-gone' : 'chain-gone'
  return chooseChainFault(number) ?? 'none'
}

function chooseSharedFault(number: number): Trouble {
  if (number % 5 === 2) return number % 2 === 1 ? 'server-restart' : 'server-crash'
  if (number % 5 === 3) return number % 2 === 1 ? 'facilitator-gone' : 'chain-gone'
  return chooseChainFault(number) ?? (number % 2 === 1 ? 'deaf' : 'none')
}
