/** Bugs of the client that stores its payments. */

import type { Mutant } from './mutant.ts'

const BUYER = 'server/client/buyer.ts'
const STEPS = 'server/client/next-step.ts'

export const mutantsOfClients: readonly Mutant[] = [
  {
    name: 'a client treats a payment that was taken for nothing as rejected',
    file: STEPS,
    from: `  if (error?.charged === 'yes') return { do: 'stop', saved: 'set aside', failure: toPaidFailure(error) }\n`,
    to: `  if (error?.charged === 'yes') return { do: 'stop', saved: 'removed', failure: error }\n`,
  },
  {
    name: 'a client drops a payment that may still move',
    file: STEPS,
    from: `if (error?.charged === 'no') {`,
    to: `if (error?.charged === 'no' || error?.charged === 'unknown') {`,
  },
  {
    name: 'a client treats the 400 of a gateway as final',
    file: STEPS,
    from: `if (error?.charged === 'no') {`,
    to: `if (error?.charged === 'no' || (error !== undefined && error.charged === undefined && error.status === 400)) {`,
    seed: 32,
  },
  {
    name: 'a client treats any response as the wall’s',
    file: STEPS,
    from: `  const error = answer && parseError(answer.status, answer.body)
  if (error?.charged === 'yes')`,
    to: `  const said = answer && parseError(answer.status, answer.body)
  const error = said ?? (answer && { ...createNoWallFailure(situation.url, answer.status), charged: 'no' })
  if (error?.charged === 'yes')`,
    seed: 32,
  },
  {
    name: 'a client treats a deed as the outcome of its payment',
    file: STEPS,
    from: `  const error = answer && parseError(answer.status, answer.body)
  if (error?.charged === 'yes')`,
    to: `  if (answer !== undefined && isSuccess(answer.status)) return { do: 'stop', saved: 'removed', failure: SOLD }
  const error = answer && parseError(answer.status, answer.body)
  if (error?.charged === 'yes')`,
    seed: 445,
  },
  {
    name: 'a client saves a payment only after the response',
    file: BUYER,
    from: `      if (step.do === 'sign') {`,
    to: `      if (step.do === 'sign') {
        await fetchAnswer(fetch, { ...order, payment: await signPayment(account, step.terms, { text: order.text, salt: createSalt(), now: now() }) })`,
    seed: 26,
  },
  {
    name: 'a client signs a new payment while the same order is open',
    file: BUYER,
    from: 'const own = takeLeftover(session.left, order)',
    to: 'const own = takeLeftover([...session.left].slice(session.left.length), order)',
  },
  {
    name: 'a client skips the first payment that earlier processes left',
    file: BUYER,
    from: '(await payments.list()).map(',
    to: '(await payments.list()).slice(1).map(',
    seed: 3,
  },
]
