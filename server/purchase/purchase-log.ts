/** Writes to the operator's journal how purchases go: one line a step, with ids and never with what a buyer said or signed. */

import { keyOf, type PaymentKey } from '../domain/purchase/payment.ts'
import type { Answer, Outcome, Purchase, Request, Verb } from '../domain/purchase/purchase.ts'
import { namedIn, nameOf, type Target } from '../domain/purchase/target.ts'
import type { Clock, Logger } from '../ports.ts'

type Facts = Readonly<Record<string, string | number | boolean>>

/** What came of one request of a script. */
export type Reply = { readonly answer: Answer } | { readonly error: unknown }

/** Takes a step's request when it is made, and then what came of it. */
export type LogStep = (request: Request) => (reply: Reply) => void

/** How the steps of a buyer's request are told: all that found or changed something. */
export function logEverything({ logger, clock }: LogDeps): LogStep {
  return (request) => {
    const since = clock.elapsed()
    return (reply) => {
      if ('answer' in reply && isPlain(request.do, reply.answer)) return
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
function isPlain(step: Verb, answer: Answer): boolean {
  if (step === 'look-up') return answer === undefined
  if (step === 'check-signature') return true
  if (typeof answer !== 'object') return false
  if (step === 'check-availability') return 'space' in answer && answer.space === 'open' && answer.prior === undefined
  return step === 'read-chain' && 'spent' in answer && !answer.spent
}

// What a sweep only looks at is the same every few seconds, for as long as a purchase is open.
const reads: ReadonlySet<Verb> = new Set(['look-up', 'ask-chain', 'confirm'])

/** How the steps of a sweep are told: those that may change something. */
export function logActs(deps: LogDeps): LogStep {
  const log = logEverything(deps)
  return (request) => (reads.has(request.do) ? () => {} : log(request))
}

type LogDeps = { readonly logger: Logger; readonly clock: Clock }

/** Tells how a request to buy ended. */
export function logOutcome(logger: Logger, key: PaymentKey, target: Target, outcome: Outcome): void {
  logger.note('purchase', {
    payer: key.payer,
    nonce: key.nonce,
    target: nameOf(target),
    ...(outcome.kind === 'bought' ? factsOf(outcome.purchase) : { outcome: outcome.failure.code }),
  })
}

const factsOf = (purchase: Extract<Outcome, { kind: 'bought' }>['purchase']): Facts => ({
  outcome: 'bought',
  ...namedIn(purchase),
  tx: purchase.state.tx,
})

function idsOf(request: Request): PaymentKey {
  const { payer, nonce } = keyIn(request)
  return { payer, nonce }
}

function keyIn(request: Request): PaymentKey {
  if ('key' in request) return request.key
  return 'payment' in request ? request.payment : request.purchase.payment
}

// The name of what was thrown; its message may be anyone's.
const failed = (error: unknown): Facts => ({
  answer: 'failed',
  error: error instanceof Error ? error.name : typeof error,
})

function wordsOf(answer: Answer): Facts {
  if (answer === undefined) return { answer: 'none' }
  if (typeof answer !== 'object') return { answer: String(answer) }
  if ('BYTES_PER_ELEMENT' in answer) return { answer: 'painted' }
  if ('code' in answer) return { answer: answer.code }
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
  ...namedIn(purchase),
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
    logger.alert(event, { payer: payment.payer, nonce: payment.nonce, ...namedIn(purchase) })
  }
}
