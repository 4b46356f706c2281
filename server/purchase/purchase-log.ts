/**
 * Logs purchases in the operator's journal: one line for each normal purchase, with ids and never with a buyer's texts
 * or signatures.
 */

import { isFailure } from '../domain/failure.ts'
import { toPaymentKey, type PaymentKey } from '../domain/purchase/payment.ts'
import type { ScriptAnswer, Outcome, Purchase, ScriptRequest, Verb } from '../domain/purchase/purchase.ts'
import { toNameField, formatTarget, type Target } from '../domain/purchase/target.ts'
import type { Clock, Logger } from '../ports.ts'
import type { RunStep } from './steps.ts'

type Facts = Readonly<Record<string, string | number | boolean>>

/** Receives each finished step and its duration. */
export type LogStep = (step: RunStep, ms: number) => void

/** Logs one request to buy: one line for each unusual step, and then one line when the request has ended. */
export type PurchaseLog = { readonly logStep: LogStep; logEnd(key: PaymentKey, target: Target, outcome: Outcome): void }

/** Starts the log of a request. */
export function createPurchaseLog({ logger, clock }: LogDeps): PurchaseLog {
  const began = clock.elapsed()
  const log = createStepLog(logger, (step) => isPlain(step) || isUsual(step))
  let facilitator: string | undefined // the host that answered the last settle call
  return {
    logStep(step, ms) {
      if (step.do === 'settle' && step.answer !== undefined) facilitator = step.answer.by
      log(step, ms)
    },
    logEnd({ payer, nonce }, target, outcome) {
      logger.note('purchase', {
        payer,
        nonce,
        target: formatTarget(target),
        ...(outcome.kind === 'bought'
          ? { outcome: outcome.kind, ...toNameField(outcome.purchase), tx: outcome.purchase.state.tx }
          : { outcome: outcome.code }),
        ...(facilitator === undefined ? {} : { facilitator }),
        ms: Math.round(clock.elapsed() - began),
      })
    },
  }
}

// A sweep repeats these checks every few seconds while a purchase is open, so they are not logged. Marking a sale as
// final is not unusual either.
const quiet: ReadonlySet<Verb> = new Set(['look-up', 'ask-chain', 'confirm', 'mark-final'])

/** Makes the log of a sweep, which leaves out the steps in `quiet`. */
export function createSweepLog({ logger }: Pick<LogDeps, 'logger'>): LogStep {
  const log = createStepLog(logger, isPlain)
  return (step, ms) => (quiet.has(step.do) ? undefined : log(step, ms))
}

type LogDeps = { readonly logger: Logger; readonly clock: Clock }

/** Logs each step that failed, or whose answer needs a line. */
const createStepLog =
  (logger: Logger, needsNoLine: (step: RunStep) => boolean): LogStep =>
  (step, ms) => {
    const isFailed = step.state === 'failed'
    if (!isFailed && needsNoLine(step)) return
    const words = isFailed ? describeError(step.error) : describeAnswer(step.answer)
    logger.note('step', { ...getPaymentKey(step), step: step.do, ...words, ms: Math.round(ms) })
  }

/**
 * Whether a step is a check before the claim, with the usual result for a new payment. Junk payments get this far, and
 * should leave few lines in the log.
 */
function isPlain(step: RunStep): boolean {
  if (step.do === 'look-up') return step.answer === undefined
  if (step.do === 'check-availability') return step.answer?.space === 'open' && step.answer.prior === undefined
  if (step.do === 'read-chain') return step.answer !== 'silent' && step.answer?.spent === false
  return step.do === 'check-signature'
}

// The results of the steps of every normal, successful purchase.
const usual: Partial<Record<Verb, string>> = {
  paint: 'painted',
  verify: 'valid',
  claim: 'claimed',
  settle: 'success',
  'ask-chain': 'paid',
  finalize: 'sold',
}

const isUsual = (step: RunStep) => usual[step.do] === describeAnswer(step.answer)['answer']

function getPaymentKey(request: ScriptRequest): PaymentKey {
  const { payer, nonce } =
    'key' in request ? request.key : 'payment' in request ? request.payment : request.purchase.payment
  return { payer, nonce }
}

// Only the name of the exception is logged, because its message may contain anything.
const describeError = (error: unknown): Facts => ({
  answer: 'failed',
  error: error instanceof Error ? error.name : typeof error,
})

function describeAnswer(answer: ScriptAnswer): Facts {
  if (answer === undefined) return { answer: 'none' }
  if (typeof answer !== 'object') return { answer: String(answer) }
  if ('BYTES_PER_ELEMENT' in answer) return { answer: 'painted' }
  if (isFailure(answer)) return { answer: answer.code }
  if ('spent' in answer) return { answer: answer.spent ? 'spent' : 'unspent', height: Number(answer.head) }
  if ('space' in answer && 'prior' in answer)
    return { answer: answer.space, ...(answer.prior === undefined ? {} : { prior: answer.prior.payment.nonce }) }
  if ('state' in answer) return describeState(answer)
  if ('purchase' in answer) return { ...describeState(answer.purchase), answer: answer.kind }
  return {
    answer: answer.kind,
    ...('by' in answer && answer.by !== undefined ? { facilitator: answer.by } : {}),
    ...('tx' in answer ? { tx: answer.tx } : {}),
    ...('reason' in answer ? { reason: answer.reason } : {}),
    ...('why' in answer ? { reason: answer.why } : {}),
  }
}

const describeState = (purchase: Purchase): Facts => ({
  answer: purchase.state.kind,
  ...toNameField(purchase),
  ...('tx' in purchase.state ? { tx: purchase.state.tx } : {}),
})

/** Makes a function that alerts the operator, once per event and purchase in the life of the process. */
export function createOneTimeAlert(logger: Logger): (event: string, purchase: Purchase) => void {
  const alerted = new Set<string>()
  return (event, purchase) => {
    const { payment } = purchase
    const once = `${event} ${toPaymentKey(payment)}`
    if (alerted.has(once)) return
    alerted.add(once)
    logger.alert(event, { payer: payment.payer, nonce: payment.nonce, ...toNameField(purchase) })
  }
}
