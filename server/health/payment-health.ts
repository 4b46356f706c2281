/** Watches whether payments can be taken, by probing the facilitator and the chain. Nothing else changes the rail's state. */

import type { Rail } from '../../shared/contract/service.ts'
import type { Chain, ChainHealth, Clock, Facilitator, Logger } from '../ports.ts'
import { TIMES, type Times } from '../times.ts'

export type PaymentHealth = {
  state(): Rail
  /** What is wrong, or what is done without, in words without secrets; `null` when nothing is. */
  fault(): string | null
  /** Asks facilitator and chain once. */
  probe(): Promise<void>
  /** How long until the next probe is due, in milliseconds; 0 is now. It may be due earlier than was said before. */
  probeInMs(): number
  /** Must be called once the open purchases of an earlier run were checked and the store is known to be current. */
  reconciled(): void
  /** Sets what `reconciled` waits for, in words without secrets; `null` when that takes only seconds. */
  waitsFor(reason: string | null): void
  /** Must be called when the store may have been replaced: no new payment is taken until `reconciled` is called again. */
  suspend(): void
}

/**
 * What a rail is watched with. `facilitatorTrouble` says what is wrong with facilitators, the one or the other, since they
 * were probed last; `isSuspect` whether a buyer has met trouble since; `isLate` whether this process is late itself, so that
 * a probe that fails proves nothing.
 */
export type PaymentHealthDeps = {
  readonly facilitator: Facilitator & { readonly isSuspect?: () => boolean }
  readonly chain: Chain
  readonly clock: Clock
  readonly logger: Logger
  readonly facilitatorTrouble?: () => string | null
  readonly isLate?: () => boolean
  readonly times?: Times
}

/** Starts as `arming`, until a probe has succeeded and `reconciled` was called. */
export function paymentHealth(deps: PaymentHealthDeps): PaymentHealth {
  const { facilitator, chain, clock, logger, times = TIMES } = deps
  const { facilitatorTrouble = () => null, isLate = () => false } = deps
  let fault: string | null = null // what can never work
  let trouble: string | null = null // what the last probe did not get
  let lack: string | null = null // what is done without
  let checked = false
  let reconciled = false
  let waiting: string | null = null // what `reconciled` waits for
  let stalled = false
  let failedProbes = 0
  let failingSince: number | null = null
  let wasArmed = false
  let head: bigint | undefined
  let isStill = false // the chain was no further at the last probe than at the one before
  let probedMs: number | undefined
  const note = changesNoted(logger)

  const words = () => fault ?? trouble ?? (reconciled ? null : waiting) ?? lack
  const state = () => {
    const failingForMs = failingSince === null ? 0 : clock.elapsed() - failingSince
    const now = railState({ fault, checked, reconciled, stalled, failedProbes, failingForMs })
    note(now, words())
    wasArmed ||= now === 'armed'
    return now
  }

  return {
    state,
    fault: words,
    probeInMs() {
      if (probedMs === undefined) return 0
      const isUneasy = trouble !== null || (wasArmed && state() !== 'armed')
      const isSuspect = facilitator.isSuspect?.() === true
      return Math.max(0, probedMs + probesEveryMs(times, { isUneasy, wasArmed, isSuspect, isStill }) - clock.elapsed())
    },
    reconciled: () => {
      reconciled = true
      state()
    },
    waitsFor: (reason) => {
      waiting = reason
      state()
    },
    suspend: () => {
      reconciled = false
      state()
    },
    async probe() {
      const [supports, health] = await Promise.all([facilitator.supports(), chain.fault()])
      probedMs = clock.elapsed()
      const ofFacilitators = facilitatorTrouble()
      trouble = troubleIn(supports, health, ofFacilitators)
      const usable = trouble === null
      failedProbes = usable || isLate() ? 0 : failedProbes + 1
      failingSince = usable || isLate() ? null : (failingSince ?? clock.elapsed())
      stalled = health.kind === 'stalled' || (stalled && !usable)
      checked ||= usable
      // A permanent fault of one side stays known while the other is silent.
      const what = faultIn(supports, health, ofFacilitators)
      if (what !== null || usable) fault = what
      if (health.kind === 'none') {
        lack = [health.lacks, ofFacilitators].filter((words) => typeof words === 'string').join('; ') || null
        isStill = head !== undefined && head === health.head
        head = health.head
      }
      state()
    },
  }
}

/** Notes the state of the rail in the journal when it, or what is wrong, changes. */
function changesNoted(logger: Logger): (now: Rail, what: string | null) => void {
  let shown: { readonly now: Rail; readonly what: string | null } = { now: 'arming', what: null }
  return (now, what) => {
    if (now === shown.now && what === shown.what) return
    logger.note('rail', what === null ? { state: now } : { state: now, what })
    shown = { now, what }
  }
}

type Unease = Readonly<Record<'isUneasy' | 'wasArmed' | 'isSuspect' | 'isStill', boolean>>

function probesEveryMs(times: Times, { isUneasy, wasArmed, isSuspect, isStill }: Unease): number {
  if (isUneasy) return times.uneasyProbesEveryMs
  if (!wasArmed) return times.firstProbesEveryMs
  if (isSuspect) return times.suspicionProbedAfterMs
  return isStill ? times.uneasyProbesEveryMs : times.probesEveryMs
}

/** What is known of the rail. */
export type RailFacts = {
  readonly fault: string | null // what the network answered that can never work
  readonly checked: boolean // facilitator and chain have answered a whole probe once
  readonly reconciled: boolean // purchases left open by an earlier run were looked at
  readonly stalled: boolean // the chain makes no blocks
  readonly failedProbes: number // in a row
  readonly failingForMs: number // how long probes have failed without one success
}

const FAILED_PROBES_MAX = 5
const FAILING_MAX_MS = 60_000

/** The state health shows. Only `armed` takes payments that were not seen before. */
export function railState(facts: RailFacts): Rail {
  if (facts.fault !== null) return 'misconfigured'
  if (!facts.checked || !facts.reconciled || facts.stalled) return 'arming'
  if (facts.failedProbes >= FAILED_PROBES_MAX || facts.failingForMs >= FAILING_MAX_MS) return 'arming'
  return 'armed'
}

type Supports = Awaited<ReturnType<Facilitator['supports']>>

function faultIn(supports: Supports, chain: ChainHealth, ofFacilitators: string | null): string | null {
  if (chain.kind === 'fault') return chain.what
  return supports === 'no' ? (ofFacilitators ?? 'the facilitator does not support this network') : null
}

function troubleIn(supports: Supports, chain: ChainHealth, ofFacilitators: string | null): string | null {
  const what = [
    ...(supports === 'unavailable' ? [ofFacilitators ?? 'the facilitator does not respond'] : []),
    ...(chain.kind === 'silent' ? [chain.what ?? 'the chain endpoint does not respond'] : []),
    ...(chain.kind === 'stalled' ? [chain.what] : []),
  ]
  return what.length === 0 ? null : what.join('; ')
}
