/** Writes to the operator's journal how purchases go: one line for each that is as usual, with ids and never with what a buyer said or signed. */

import { isFailure } from '../domain/failure.ts'
import { keyOf, type PaymentKey } from '../domain/purchase/payment.ts'
import type { ScriptAnswer, Outcome, Purchase, ScriptRequest, Verb } from '../domain/purchase/purchase.ts'
import { nameField, nameOf, type Target } from '../domain/purchase/target.ts'
import type { Clock, Logger } from '../ports.ts'

type Facts = Readonly<Record<string, string | number | boolean>>

/** What came of one request of a script. */
export type Reply = { readonly answer: ScriptAnswer } | { readonly error: unknown }

/** Takes a step's request when it is made, and then what came of it. */
export type LogStep = (request: ScriptRequest) => (reply: Reply) => void

/** How one request to buy is told: a line when it has ended, and before it one for each step that was not as usual. */
export type PurchaseLog = { readonly step: LogStep; ended(key: PaymentKey, target: Target, outcome: Outcome): void }

/** Begins to tell of a request. */
export function logPurchase({ logger, clock }: LogDeps): PurchaseLog {
  const began = clock.elapsed()
  const log = logSteps({ logger, clock }, (step, answer) => isPlain(step, answer) || isAsUsual(step, answer))
  let facilitator: string | undefined // that settled it
  return {
    step(request) {
      const logReply = log(request)
      return (reply) => {
        if (request.do === 'settle' && 'answer' in reply) facilitator = settledBy(reply.answer)
        logReply(reply)
      }
    },
    ended({ payer, nonce }, target, outcome) {
      logger.note('purchase', {
        payer,
        nonce,
        target: nameOf(target),
        ...(outcome.kind === 'bought' ? factsOf(outcome.purchase) : { outcome: outcome.code }),
        ...(facilitator === undefined ? {} : { facilitator }),
        ms: Math.round(clock.elapsed() - began),
      })
    },
  }
}

// What a sweep only looks at is the same every few seconds, for as long as a purchase is open; a sale that is final is as usual.
const quiet: ReadonlySet<Verb> = new Set(['look-up', 'ask-chain', 'confirm', 'mark-final'])

/** How the steps of a sweep are told: those that may change something. */
export function logActs(deps: LogDeps): LogStep {
  const log = logSteps(deps, isPlain)
  return (request) => (quiet.has(request.do) ? () => {} : log(request))
}

type LogDeps = { readonly logger: Logger; readonly clock: Clock }

/** Tells of each step, but for those whose answers need no line. */
function logSteps({ logger, clock }: LogDeps, needsNoLine: (step: Verb, answer: ScriptAnswer) => boolean): LogStep {
  return (request) => {
    const since = clock.elapsed()
    return (reply) => {
      if ('answer' in reply && needsNoLine(request.do, reply.answer)) return
      logger.note('step', {
        ...idsOf(request),
        step: request.do,
        ...('error' in reply ? failed(reply.error) : wordsOf(reply.answer)),
        ms: Math.round(clock.elapsed() - since),
      })
    }
  }
}

/** Whether a look before the claim found what every new payment finds. Junk gets so far, and is to leave few lines. */
function isPlain(step: Verb, answer: ScriptAnswer): boolean {
  if (step === 'look-up') return answer === undefined
  if (step === 'check-signature') return true
  if (typeof answer !== 'object') return false
  if (step === 'check-availability') return 'space' in answer && answer.space === 'open' && answer.prior === undefined
  return step === 'read-chain' && 'spent' in answer && !answer.spent
}

// What every purchase finds that goes through.
const usual: Partial<Record<Verb, string>> = {
  paint: 'painted',
  verify: 'valid',
  claim: 'claimed',
  settle: 'success',
  'ask-chain': 'paid',
  finalize: 'sold',
}

const isAsUsual = (step: Verb, answer: ScriptAnswer) => usual[step] === wordsOf(answer)['answer']

const settledBy = (answer: ScriptAnswer) => (typeof answer === 'object' && 'by' in answer ? answer.by : undefined)

const factsOf = (purchase: Extract<Outcome, { kind: 'bought' }>['purchase']): Facts => ({
  outcome: 'bought',
  ...nameField(purchase),
  tx: purchase.state.tx,
})

function idsOf(request: ScriptRequest): PaymentKey {
  const { payer, nonce } =
    'key' in request ? request.key : 'payment' in request ? request.payment : request.purchase.payment
  return { payer, nonce }
}

// The name of what was thrown; its message may be anyone's.
const failed = (error: unknown): Facts => ({
  answer: 'failed',
  error: error instanceof Error ? error.name : typeof error,
})

function wordsOf(answer: ScriptAnswer): Facts {
  if (answer === undefined) return { answer: 'none' }
  if (typeof answer !== 'object') return { answer: String(answer) }
  if ('BYTES_PER_ELEMENT' in answer) return { answer: 'painted' }
  if (isFailure(answer)) return { answer: answer.code }
  if ('spent' in answer) return { answer: answer.spent ? 'spent' : 'unspent', height: Number(answer.head) }
  if ('space' in answer && 'prior' in answer)
    return { answer: answer.space, ...(answer.prior === undefined ? {} : { prior: answer.prior.payment.nonce }) }
  if ('state' in answer) return stateOf(answer)
  if ('purchase' in answer) return { ...stateOf(answer.purchase), answer: answer.kind }
  return {
    answer: answer.kind,
    ...('by' in answer && answer.by !== undefined ? { facilitator: answer.by } : {}),
    ...('tx' in answer ? { tx: answer.tx } : {}),
    ...('reason' in answer ? { reason: answer.reason } : {}),
    ...('why' in answer ? { reason: answer.why } : {}),
  }
}

const stateOf = (purchase: Purchase): Facts => ({
  answer: purchase.state.kind,
  ...nameField(purchase),
  ...('tx' in purchase.state ? { tx: purchase.state.tx } : {}),
})

/** Alerts the operator to a purchase, once in the life of the process. */
export function alertOnce(logger: Logger): (event: string, purchase: Purchase) => void {
  const told = new Set<string>()
  return (event, purchase) => {
    const { payment } = purchase
    const once = `${event} ${keyOf(payment)}`
    if (told.has(once)) return
    told.add(once)
    logger.alert(event, { payer: payment.payer, nonce: payment.nonce, ...nameField(purchase) })
  }
}
