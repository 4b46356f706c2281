/** Watches whether payments can be taken, by probing and by what purchases hear. */

import type { Rail } from '../../shared/contract/service.ts'
import { railState } from '../domain/rail.ts'
import type { Chain, Clock, Facilitator, Journal } from '../ports.ts'

export type RailWatch = {
  state(): Rail
  /** What can never work, in words without secrets; only when misconfigured. */
  fault(): string | null
  /** Tells of one answer to a purchase's verify or look at the chain. */
  heard(usable: boolean): void
  /** Asks facilitator and chain once. */
  probe(): Promise<void>
  /** Tells that the purchases an earlier run left open were looked at. */
  reconciled(): void
}

type Probing = {
  readonly facilitator: Facilitator
  readonly chain: Chain
  readonly clock: Clock
  readonly journal: Journal
}

/** Starts out `arming`, until a probe has succeeded and `reconciled` was told. */
export function watchRail({ facilitator, chain, clock, journal }: Probing): RailWatch {
  let fault: string | null = null
  let checked = false
  let reconciled = false
  let unusableInARow = 0
  let failingSince: number | null = null
  let shown: Rail = 'arming'

  const state = () => {
    const failingForMs = failingSince === null ? 0 : clock.elapsed() - failingSince
    const now = railState({ fault, checked, reconciled, unusableInARow, failingForMs })
    if (now !== shown) journal.note('rail', fault === null ? { state: now } : { state: now, fault })
    shown = now
    return now
  }
  const heard = (usable: boolean) => {
    unusableInARow = usable ? 0 : unusableInARow + 1
  }

  return {
    state,
    fault: () => fault,
    heard,
    reconciled: () => {
      reconciled = true
      state()
    },
    async probe() {
      const [supports, chainFault] = await Promise.all([facilitator.supports(), chain.fault()])
      const usable = supports !== 'unavailable' && chainFault.kind !== 'silent'
      heard(usable)
      failingSince = usable ? null : (failingSince ?? clock.elapsed())
      checked ||= usable
      // What one side says can never work stays said while the other is silent.
      const what = faultIn(supports, chainFault)
      if (what !== null || usable) fault = what
      state()
    },
  }
}

function faultIn(
  supports: Awaited<ReturnType<Facilitator['supports']>>,
  chain: Awaited<ReturnType<Chain['fault']>>,
): string | null {
  if (chain.kind === 'fault') return chain.what
  return supports === 'no' ? 'the facilitator does not take this network' : null
}
