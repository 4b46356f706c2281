/**
 * Watches whether payments can be accepted, by probing the facilitator and the chain. Besides these probes, only
 * `markReconciled` and `suspend` change the rail's state.
 */

import type { Rail } from '../../shared/contract/service.ts'
import type { Chain, ChainHealth, Clock, Facilitator, Logger } from '../ports.ts'
import { TIMES, type Times } from '../times.ts'

export type PaymentHealth = {
  readState(): Rail
  /** The problem, or a missing feature, in words without secrets; `null` if there is none. */
  readFault(): string | null
  /** Probes the facilitator and the chain once. */
  probe(): Promise<void>
  /**
   * Milliseconds until the next probe is due; 0 if it is due now. A probe may become due earlier than a previous call
   * said.
   */
  computeProbeDelay(): number
  /**
   * Must be called once the open purchases of an earlier run have been checked and the store is known to be current.
   */
  markReconciled(): void
  /**
   * Sets the reason why `markReconciled` has not been called yet, in words without secrets; `null` if that call is only
   * seconds away.
   */
  setWaitReason(reason: string | null): void
  /**
   * Must be called when the store may have been replaced: no new payment is accepted until `markReconciled` is called
   * again.
   */
  suspend(): void
}

/**
 * The inputs of the watch. `findFacilitatorTrouble` reports problems of facilitators since their last probe.
 * `isSuspect` says whether the verification of a buyer's payment failed since the last probe. `isLate` says whether
 * this process's own event loop is late; a failed probe then proves nothing.
 */
export type PaymentHealthDeps = {
  readonly facilitator: Facilitator & { readonly isSuspect?: () => boolean }
  readonly chain: Chain
  readonly clock: Clock
  readonly logger: Logger
  readonly findFacilitatorTrouble?: () => string | null
  readonly isLate?: () => boolean
  readonly times?: Times
}

/**
 * Makes the watch. The rail starts as `arming` and is not `armed` until a probe has succeeded and `markReconciled` has
 * been called.
 */
export function createPaymentHealth(deps: PaymentHealthDeps): PaymentHealth {
  const { facilitator, chain, clock, logger, times = TIMES } = deps
  const { findFacilitatorTrouble = () => null, isLate = () => false } = deps
  let fault: string | null = null // a permanent fault
  let trouble: string | null = null // why the last probe failed
  let lack: string | null = null // an unsupported feature
  let checked = false
  let reconciled = false
  let waiting: string | null = null // why `markReconciled` was not called yet
  let stalled = false
  let failedProbes = 0
  let failingSince: number | null = null
  let wasArmed = false
  let head: bigint | undefined
  let isStill = false // the height has not grown between the last two probes
  let probedMs: number | undefined
  const logChange = createChangeLogger(logger)

  const explainFault = () => fault ?? trouble ?? (reconciled ? null : waiting) ?? lack
  const updateState = () => {
    const failingForMs = failingSince === null ? 0 : clock.elapsed() - failingSince
    const now = deriveRailState({ fault, checked, reconciled, stalled, failedProbes, failingForMs })
    logChange(now, explainFault())
    wasArmed ||= now === 'armed'
    return now
  }

  const setReconciled = (is: boolean) => {
    reconciled = is
    updateState()
  }

  return {
    readState: updateState,
    readFault: explainFault,
    computeProbeDelay() {
      if (probedMs === undefined) return 0
      const isUneasy = trouble !== null || (wasArmed && updateState() !== 'armed')
      const isSuspect = facilitator.isSuspect?.() === true
      const gapMs = chooseProbeGapMs(times, { isUneasy, wasArmed, isSuspect, isStill })
      return Math.max(0, probedMs + gapMs - clock.elapsed())
    },
    markReconciled: () => setReconciled(true),
    setWaitReason: (reason) => {
      waiting = reason
      updateState()
    },
    suspend: () => setReconciled(false),
    async probe() {
      const [supports, health] = await Promise.all([facilitator.checkSupport(), chain.checkHealth()])
      probedMs = clock.elapsed()
      const ofFacilitators = findFacilitatorTrouble()
      trouble = findTrouble(supports, health, ofFacilitators)
      const usable = trouble === null
      failedProbes = usable || isLate() ? 0 : failedProbes + 1
      failingSince = usable || isLate() ? null : (failingSince ?? clock.elapsed())
      stalled = health.kind === 'stalled' || (stalled && !usable)
      checked ||= usable
      // A known permanent fault of the facilitator or the chain is kept until a probe succeeds or finds another fault.
      const what = findFault(supports, health, ofFacilitators)
      if (what !== null || usable) fault = what
      if (health.kind === 'none') {
        lack = [health.lacks, ofFacilitators].filter((words) => typeof words === 'string').join('; ') || null
        isStill = head !== undefined && head === health.head
        head = health.head
      }
      updateState()
    },
  }
}

/** Logs the state of the rail whenever the state or its problem changes. */
function createChangeLogger(logger: Logger): (now: Rail, what: string | null) => void {
  let shown: { readonly now: Rail; readonly what: string | null } = { now: 'arming', what: null }
  return (now, what) => {
    if (now === shown.now && what === shown.what) return
    logger.note('rail', what === null ? { state: now } : { state: now, what })
    shown = { now, what }
  }
}

type Unease = Readonly<Record<'isUneasy' | 'wasArmed' | 'isSuspect' | 'isStill', boolean>>

function chooseProbeGapMs(times: Times, { isUneasy, wasArmed, isSuspect, isStill }: Unease): number {
  if (isUneasy) return times.uneasyProbesEveryMs
  if (!wasArmed) return times.firstProbesEveryMs
  if (isSuspect) return times.suspicionProbedAfterMs
  return isStill ? times.uneasyProbesEveryMs : times.probesEveryMs
}

/** The known facts about the rail. */
export type RailFacts = {
  readonly fault: string | null // the reason why payments can never work with these settings
  readonly checked: boolean // the facilitator and the chain have both passed a probe at least once
  readonly reconciled: boolean // open purchases of an earlier run were checked
  readonly stalled: boolean // the chain makes no blocks
  readonly failedProbes: number // in a row
  readonly failingForMs: number // how long all probes have failed
}

const FAILED_PROBES_MAX = 5
const FAILING_MAX_MS = 60_000

/** The rail's state, as the health report shows it. New payments are accepted only in the state `armed`. */
export function deriveRailState(facts: RailFacts): Rail {
  if (facts.fault !== null) return 'misconfigured'
  if (!facts.checked || !facts.reconciled || facts.stalled) return 'arming'
  if (facts.failedProbes >= FAILED_PROBES_MAX || facts.failingForMs >= FAILING_MAX_MS) return 'arming'
  return 'armed'
}

type Supports = Awaited<ReturnType<Facilitator['checkSupport']>>

function findFault(supports: Supports, chain: ChainHealth, ofFacilitators: string | null): string | null {
  if (chain.kind === 'fault') return chain.what
  return supports === 'no' ? (ofFacilitators ?? 'the facilitator does not support this network') : null
}

function findTrouble(supports: Supports, chain: ChainHealth, ofFacilitators: string | null): string | null {
  const what = [
    ...(supports === 'unavailable' ? [ofFacilitators ?? 'the facilitator does not respond'] : []),
    ...(chain.kind === 'silent' ? [chain.what ?? 'the chain endpoint does not respond'] : []),
    ...(chain.kind === 'stalled' ? [chain.what] : []),
  ]
  return what.length === 0 ? null : what.join('; ')
}
