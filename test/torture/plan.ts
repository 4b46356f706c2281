/** What happens in which round: drawn from a number, so that a run can be drawn again. Only timing is left to the machine. */

import type { SettleFault } from '../local/faulty-facilitator.ts'
import { diceOf, type Dice } from '../sim/dice.ts'

/** What else goes wrong in a round. `disk-limit`: files cannot grow, which fails at commit; `disk-full`: no space left. */
export type Trouble = 'none' | 'facilitator-gone' | 'chain-gone' | 'disk-limit' | 'disk-full'

/** What a buyer wants, and by which entrance it comes. */
export type Order = { readonly target: string; readonly via: 'http' | 'mcp' }

export type Round = {
  readonly number: number
  readonly orders: readonly Order[]
  readonly copies: number // how many of the buyers send each request twice at once
  readonly killsAfterMs: readonly number[] // counted from the moment the wall listens
  readonly trouble: Trouble
  readonly troubleAfterMs: number
  readonly troubleForMs: number
  readonly settleFaults: readonly SettleFault[]
}

/** How many buyers a round has. */
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

/** The plan of a run. */
export function planOf(seed: number, rounds: number, crowd = CROWD): readonly Round[] {
  const dice = diceOf(seed)
  return Array.from({ length: rounds }, (_, at): Round => {
    const number = at + 1
    const trouble = troubleOf(number)
    const orders = Array.from({ length: crowd }, (): Order => {
      // A few blocks at the edge, so that buyers meet there.
      const target = dice.chance(0.4) ? `${(number * 4 + dice.below(6)) % 160},${Math.floor(number / 40) % 20}` : 'next'
      return { target, via: dice.chance(0.4) ? 'mcp' : 'http' }
    })
    return {
      number,
      orders,
      copies: dice.below(8),
      killsAfterMs: killsIn(trouble, dice),
      trouble,
      troubleAfterMs: dice.below(200),
      troubleForMs: 200 + dice.below(600),
      // What a faulty settlement leaves in doubt is asked again seconds later only, so most rounds do without.
      settleFaults: number % 4 === 1 ? Array.from({ length: 12 }, () => dice.pick(faults)) : [],
    }
  })
}

/** A disk that fails kills by itself, and on one that is full a wall could not start again before there is room. */
function killsIn(trouble: Trouble, dice: Dice): number[] {
  if (trouble === 'disk-limit') return []
  if (trouble === 'disk-full') return [1000 + dice.below(400)]
  return Array.from({ length: 1 + dice.below(2) }, () => 5 + dice.below(396))
}

function troubleOf(number: number): Trouble {
  if (number % 10 === 0) return 'disk-full'
  if (number % 10 === 7) return 'disk-limit'
  if (number % 5 === 3) return number % 2 === 1 ? 'facilitator-gone' : 'chain-gone'
  return 'none'
}
