/**
 * The steps of a run: the requests of its script, and their results. The steps show what the run knows, and what the
 * other runs of this process must know about the run.
 */

import type { AnswerTo, Purchase, ScriptRequest, SoldPurchase, Verb } from '../domain/purchase/purchase.ts'

/** A request of a script, with its answer once there is one. */
export type RunStep = {
  [V in Verb]: Extract<ScriptRequest, { do: V }> & {
    readonly state: 'asked' | 'answered' | 'failed'
    readonly answer?: AnswerTo<V>
    readonly error?: unknown // if it failed
  }
}[Verb]

type Steps = readonly RunStep[]

/**
 * Whether a run holds its block, or may hold it: another purchase of its payer can see a claim before the claim is
 * answered.
 */
export const hasClaimed = (steps: Steps): boolean =>
  steps.some((step) => step.do === 'claim' && (step.state !== 'answered' || step.answer?.kind === 'claimed'))

/** Whether the script got an answer about the chain. A run whose retry budget is used up gets one without a query. */
export const hasChainAnswer = (steps: Steps): boolean =>
  steps.some((step) => step.do === 'ask-chain' && step.state === 'answered')

/** Whether a run is waiting for another purchase by the same payer to end. */
export const isWaiting = (steps: Steps): boolean =>
  steps.some((step) => step.do === 'resolve-other' && step.state === 'asked')

/**
 * The earlier purchase whose receipt a run returns. It is known as soon as the script requests `hand-over`, so that no
 * other run returns the same receipt.
 */
export function findHandedOverPurchase(steps: Steps): SoldPurchase | undefined {
  for (const step of steps)
    if (step.do === 'hand-over' && (step.state === 'asked' || step.answer === true)) return step.purchase
  return undefined
}

/**
 * The state of the payment in the ledger as a run knows it: from the run's look-up, or from what the run has written
 * since then.
 */
export function findKnownState(steps: Steps): Purchase['state']['kind'] | undefined {
  let known: Purchase['state']['kind'] | undefined
  for (const step of steps) {
    if (step.state !== 'answered') continue
    if (step.do === 'release') known = 'released'
    else if (step.do === 'claim') known = step.answer?.kind === 'claimed' ? 'reserved' : known
    else if (carriesState(step)) known = step.answer?.state.kind
  }
  return known
}

const telling = ['look-up', 'mark-uncertain', 'finalize', 'record-unclaimed', 'fulfil-late-payment'] as const

const carriesState = (step: RunStep): step is Extract<RunStep, { do: (typeof telling)[number] }> =>
  telling.some((verb) => verb === step.do)
