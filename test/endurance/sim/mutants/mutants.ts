/** All bugs to plant in the simulation's copy of the source. */

import type { Mutant } from './mutant.ts'
import { mutantsOfAreas } from './of-areas.ts'
import { mutantsOfClients } from './of-clients.ts'
import { mutantsOfTheChain } from './of-the-chain.ts'
import { mutantsOfTheOperator } from './of-the-operator.ts'

const SCRIPT = 'server/domain/purchase/purchase-script.ts'
const SETTLEMENT = 'server/domain/purchase/settlement-script.ts'
const RULES = 'server/domain/purchase/claim-rules.ts'
const RUN = 'server/purchase/purchase-run.ts'
const STEPS = 'server/purchase/steps.ts'
const AVAILABILITY = 'server/purchase/availability.ts'
const SELLER = 'server/purchase/seller.ts'
const SWEEP = 'server/purchase/reconciler.ts'
const LEASE = 'server/instances/payment-lease.ts'
const RING = 'server/purchase/facilitator-ring.ts'

export const mutants: readonly Mutant[] = [
  {
    name: 'an order that was altered in transit is sold all the same',
    file: SCRIPT,
    from: `released === undefined && !isFailure(listing))
    return createOrderMismatchFailure()`,
    to: `released === undefined && isFailure(listing))
    return createOrderMismatchFailure()`,
    seed: 115,
  },
  {
    name: 'a timeout counts as a rejection',
    file: 'server/domain/purchase/facilitator-errors.ts',
    from: `if (settling.kind === 'unsent') return`,
    to: `if (settling.kind === 'unsent' || settling.kind === 'unclear') return`,
    seed: 4,
  },
  {
    name: 'every rejection counts as definite',
    file: 'server/domain/purchase/facilitator-errors.ts',
    from: 'preBroadcastReasons.has(reason)',
    to: 'reason.length > 0',
  },
  {
    name: 'a success that a facilitator reports is believed without a check of the chain',
    file: SETTLEMENT,
    from: `  if (status.kind === 'paid') return yield* finalize(purchase, status.tx, true)\n`,
    to: `  if (settling?.kind === 'success') return yield* finalize(purchase, settling.tx, true)
  if (status.kind === 'paid') return yield* finalize(purchase, status.tx, true)\n`,
    seed: 33,
  },
  {
    name: 'a released payment is not watched',
    file: SCRIPT,
    from: 'return purchase.state.isFinal ? purchase : (yield* checkReleased(purchase)).purchase',
    to: 'return purchase',
  },
  {
    name: 'the listing is read before the payment is looked up',
    file: SCRIPT,
    from: `  const known = yield* requestStep({ do: 'look-up', key: order.payment })
  return known === undefined`,
    to: `  if (isFailure(order.listing)) return order.listing
  const known = yield* requestStep({ do: 'look-up', key: order.payment })
  return known === undefined`,
  },
  {
    name: 'the rail is checked before the payment is looked up',
    file: SCRIPT,
    from: `  const known = yield* requestStep({ do: 'look-up', key: order.payment })
  return known === undefined`,
    to: `  if (!order.armed) return createRailNotArmedFailure()
  const known = yield* requestStep({ do: 'look-up', key: order.payment })
  return known === undefined`,
  },
  {
    name: 'payments are accepted before the open purchases are checked',
    file: 'server/purchase/purchase-run.ts',
    from: `const armed = rail.readState() === 'armed'`,
    to: `const armed = rail.readState() !== 'misconfigured'`,
  },
  {
    name: 'a spent authorization counts as a new one',
    file: SCRIPT,
    from: `  if (chain.spent) return yield* refuseSpent(order, prior)\n`,
    to: '',
  },
  {
    name: 'a used authorization of a known payment is not checked',
    file: SCRIPT,
    from: `  if (chain.spent && released !== undefined) return yield* endReleased(yield* checkReleased(released), order)\n`,
    to: '',
  },
  {
    name: 'an outcome that a reorganisation can undo counts as final',
    file: SETTLEMENT,
    from: 'yield* release(purchase, status.final === true)',
    to: 'yield* release(purchase, true)',
  },
  {
    name: 'a sale is not checked again',
    file: SCRIPT,
    from: '      yield* checkConfirmation(purchase)\n',
    to: '',
  },
  {
    name: 'a payer whose sale cannot be stored is asked for another payment',
    file: SETTLEMENT,
    from: 'refusal: createNotPersistedFailure(purchase) }',
    to: `refusal: createPaymentRequiredFailure('the deed could not be written') }`,
  },
  {
    name: 'money is sent before the block is held',
    file: SCRIPT,
    from: `  const claiming = yield* requestStep({ do: 'claim',`,
    to: `  yield* requestStep({ do: 'settle', purchase: { payment, target, block: 0, listing, head: 0n, state: { kind: 'reserved', uncertain: false, attempt: 1 } } as never })
  const claiming = yield* requestStep({ do: 'claim',`,
    seed: 0,
  },
  {
    name: 'a known payment that is sent for another block gets its receipt',
    file: SCRIPT,
    from: 'if (!isPaymentOf(known, payment) || !coversTarget(known, target))',
    to: 'if (!isPaymentOf(known, payment))',
  },
  {
    name: 'a held block is released while the chain does not respond',
    file: SETTLEMENT,
    from: `  return { purchase: yield* markUncertain(purchase), status, refusal: createSettlementUnknownFailure(purchase) }`,
    to: `  if (status.kind === 'silent') return { purchase: yield* release(purchase, false), status, refusal: createChargeUnknownFailure() }
  return { purchase: yield* markUncertain(purchase), status, refusal: createSettlementUnknownFailure(purchase) }`,
  },
  {
    name: 'two runs of one payment overlap',
    file: 'server/purchase/single-flight.ts',
    from: 'before.then(work, work)',
    to: 'Promise.race([before, Promise.resolve()]).then(work, work)',
  },
  {
    name: 'a failed sweep counts as a complete one',
    file: SWEEP,
    from: `      return 'failed'\n`,
    to: `      return 'seen'\n`,
  },
  {
    name: 'a sale can have an earlier time than the sale before it (SQL)',
    file: 'db/wall/log.ts',
    from: 'max($now, coalesce((SELECT at FROM changes ORDER BY number DESC LIMIT 1), 0)) AS at',
    to: '$now AS at',
  },
  {
    name: 'the limit of holds for one payer is not enforced (SQL)',
    file: RULES,
    from: 'return held.length >= HOLDS_MAX || ',
    to: 'return ',
    shows: 'real wide',
  },
  {
    name: 'released payments are left out of the sweep (SQL)',
    file: 'db/purchase/ledger.ts',
    from: `AND ((settled = 0 AND`,
    to: `AND state <> 'released' AND ((settled = 0 AND`,
  },
  {
    name: 'an edit sent twice is applied twice (SQL)',
    file: 'server/domain/wall/edit.ts',
    from: `=== known + at) ? 'repeated' : 'superseded'`,
    to: `=== known + at) ? 'new' : 'superseded'`,
    shows: 'real',
  },
  {
    name: 'a rejection releases a block that another process has settled',
    file: 'test/endurance/sim/ledger-model.ts',
    from: `      if (isTakenUp || held.state.attempt !== before.attempt) throw new StaleWriteError('settled by another')\n`,
    to: '',
  },
  {
    name: 'a process arms after the unfinished sweep of another process',
    file: SWEEP,
    from: `return unseen?.size === 0 ? 'seen' : 'partly'`,
    to: `return unseen === undefined || unseen.size === 0 ? 'seen' : 'partly'`,
  },
  {
    name: 'a process arms while another process works on the open purchases',
    file: SWEEP,
    from: `return unseen?.size === 0 ? 'seen' : 'partly'`,
    to: `return unseen === undefined ? 'partly' : 'seen'`,
  },
  {
    name: 'a rejection of a retried settlement counts as final',
    file: SETTLEMENT,
    from: `  const settling = yield* requestStep({ do: 'settle', purchase: held })\n`,
    to: `  const settling = yield* requestStep({ do: 'settle', purchase: held })
  if (settling.kind === 'refused')
    return { purchase: yield* release(held, false), refusal: createPaymentRequiredFailure(settling.reason) }\n`,
  },
  {
    name: 'a definite rejection is not checked on the chain',
    file: SETTLEMENT,
    from: `  const status = yield* queryChain(purchase, settling.kind === 'refused' ? 'next-block' : 'none')\n`,
    to: `  const status = { kind: 'unspent' } as ChainStatus\n`,
  },
  {
    name: 'a definite rejection is not checked in a later block',
    file: SETTLEMENT,
    from: `queryChain(purchase, settling.kind === 'refused' ? 'next-block' : 'none')`,
    to: `queryChain(purchase, 'none')`,
  },
  {
    name: 'a rejection at verification is not checked on the chain',
    file: SCRIPT,
    from: `watched.status?.kind === 'unspent' && refusal !== undefined ? { ...watched, refusal } : watched`,
    to: `refusal !== undefined ? { ...watched, refusal } : watched`,
  },
  {
    name: 'a payment that settles late is not fulfilled',
    file: SETTLEMENT,
    from: `    const given = yield* requestStep({ do: 'fulfil-late-payment', purchase, tx: status.tx })
    return { purchase: given, status, refusal: createChargeUnknownFailure() }`,
    to: '    return { purchase, status, refusal: createChargeUnknownFailure() }',
  },
  {
    name: 'a payment that lost the race for its block is reported as uncharged',
    file: SCRIPT,
    from: 'return toOutcome(yield* watchRefused(sent, createLostClaimFailure(order, claiming.space)), order)',
    to: 'return refuse(createLostClaimFailure(order, claiming.space))',
    seed: 66,
  },
  {
    name: 'a rejected order is stored with its picture',
    file: SCRIPT,
    from: 'listing: { ...omitPicture(listing), pixels: null }',
    to: 'listing: omitPicture(listing)',
    seed: 0,
  },
  {
    name: 'a payment that a crashed process may have sent is reported as uncharged',
    file: 'server/purchase/purchase-run.ts',
    from: '(isNewer ? -Infinity : started.elapsed)',
    to: '(isNewer ? -Infinity : -Infinity)',
    seed: 6,
  },
  {
    name: 'a payment is sent to a facilitator without a lease that records it',
    file: 'server/purchase/purchase-run.ts',
    from: "      if (!run.isLeased) return { kind: 'busy' }\n",
    to: '',
    shows: 'twins',
  },
  {
    name: 'a payment that another instance may have sent is reported as uncharged',
    file: 'server/instances/payment-lease.ts',
    from: "if (taken === 'again' || taken === undefined) onShared()",
    to: 'if (taken === undefined) onShared()',
    shows: 'twins',
  },
  {
    name: 'a rejected order gets the picture of another order',
    file: 'server/domain/purchase/listing.ts',
    from: 'TEXT_KEYS.every((key) => one[key] === other[key]) && one.painter === other.painter',
    to: 'true',
    shows: 'real',
    seed: 280,
  },
  {
    name: 'money that moved before the payment was seen is denied',
    file: SCRIPT,
    from: `  if (status.kind === 'paid') return createPaymentUnmatchedFailure(payment.amount, status.tx, contact)\n`,
    to: '',
  },
  {
    name: 'earlier payment addresses of the wall are no longer checked',
    file: 'server/domain/purchase/claim-rules.ts',
    from: 'payees.has(to) && accepted',
    to: 'to === terms.payTo && accepted',
  },
  {
    name: 'a sale can have an earlier time than the sale of another server before it',
    file: 'test/endurance/sim/ledger-model.ts',
    from: 'const at = Math.max(now, sales.at(-1)?.at ?? 0)',
    to: 'const at = now',
    shows: 'twins',
  },
  {
    name: 'a void payment waits permanently for a payment that bought the same block',
    file: RULES,
    from: 'isSold(prior) ? createAlreadyBoughtFailure(prior) : createEarlierUnresolvedFailure()',
    to: 'createEarlierUnresolvedFailure()',
  },
  {
    name: 'a payment that buys nothing is rejected without a check of the chain',
    file: SCRIPT,
    from: 'if (refusal !== undefined && (released !== undefined || !paysWall(order))) return refuse(refusal)',
    to: 'if (refusal !== undefined) return refuse(refusal)',
  },
  {
    name: 'only one of two unanswered purchases is checked',
    file: SCRIPT,
    from: `    if (others?.prior !== undefined) return refuse(createEarlierUnresolvedFailure())\n`,
    to: '',
  },
  {
    name: 'a block from a late settlement counts as the requested one',
    file: SCRIPT,
    from: `  return coversTarget(purchase, order.target)
    ? { kind: 'bought', purchase }
    : addChargeStatus(createOtherPurchaseFailure(purchase), purchase)`,
    to: `  return { kind: 'bought', purchase }`,
  },
  {
    name: 'the receipt of an older purchase is returned for any block',
    file: SCRIPT,
    from: `  if (!isReceipt)
    return refuse(wasReceiptReusedFor(end, payment) ? createOtherPurchaseFailure(end) : createBoughtOtherFailure(end))\n`,
    to: '',
  },
  {
    name: 'a payer is asked to wait although its purchase is not marked as uncertain',
    file: SETTLEMENT,
    from: `  if (purchase.state.kind !== 'reserved' || purchase.state.uncertain) return purchase\n`,
    to: '  return purchase\n',
  },
  {
    name: 'an earlier purchase is not checked',
    file: SCRIPT,
    from: 'prior === undefined ? undefined : yield* resolvePrior(prior, order, refuse)',
    to: 'prior === undefined || chain.head >= 0n ? undefined : yield* resolvePrior(prior, order, refuse)',
  },
  {
    name: 'a purchase is marked as answered without a check that its client is still connected',
    file: RUN,
    from: 'if (!run.client.aborted) await',
    to: 'await',
  },
  {
    name: 'a purchase is marked as answered when somebody else resends its payment',
    file: RUN,
    from: `const isOwn = hasClaimed(run.steps) && outcome.kind === 'bought'`,
    to: `const isOwn = outcome.kind === 'bought'`,
  },
  {
    name: 'a receipt counts as returned although the store could not confirm that',
    file: STEPS,
    from: `(step.state === 'asked' || step.answer === true)`,
    to: 'step.answer !== false',
  },
  {
    name: 'a receipt is returned for another payment without a record of that',
    file: RUN,
    from: 'if (isReceipt) return await ledger.reuseReceipt(purchase, run.key.nonce)',
    to: 'if (isReceipt) return true',
  },
  {
    name: 'a receipt that was returned for another payment is forgotten (SQL)',
    file: 'db/purchase/holds.ts',
    from: `
    UNION ALL SELECT payment FROM reused_receipts WHERE payer = $payer AND nonce = $nonce`,
    to: '',
  },
  {
    name: 'a block is claimed for a client that disconnected',
    file: RUN,
    from: `      if (run.client.aborted) return { kind: 'abandoned' }\n`,
    to: '',
  },
  {
    name: 'a purchase whose client disconnected counts as one with a waiting client',
    file: AVAILABILITY,
    from: 'key.payer === payer && hasClaimed(steps) && !client.aborted',
    to: 'key.payer === payer && hasClaimed(steps) && client !== undefined',
  },
  {
    name: 'the operator gets no alert for a lost payment',
    file: RUN,
    from: `      alert('payment-lost', purchase)\n`,
    to: '',
  },
  {
    name: 'the operator gets the alert for a lost payment only after the loss is stored',
    file: RUN,
    from: `      alert('payment-lost', purchase)\n      return ledger.writeOff(purchase)\n`,
    to: `      return ledger.writeOff(purchase).then(() => alert('payment-lost', purchase))\n`,
  },
  {
    name: 'a database error is thrown instead of becoming a response',
    file: RUN,
    from: `    if (!(error instanceof StoreUnavailable)) throw error
    return createStoreUnavailableFailure()`,
    to: '    throw error',
  },
  {
    name: 'a block held in doubt is not offered to its payer',
    file: SELLER,
    from: `return 'uncertain'`,
    to: `return 'reserved'`,
  },
  {
    name: 'an endpoint that lags behind is believed',
    file: 'test/endurance/sim/world.ts',
    from: 'const isBehind = ended === undefined && height < sight.newest',
    to: 'const isBehind = ended === undefined && height < 0',
  },
  {
    name: 'a chain that stands still is believed',
    file: 'server/health/chain-freshness.ts',
    from: 'asked - newest.at >= STILL_MAX_MS',
    to: 'asked - newest.at < 0',
  },
  {
    name: 'views do not follow the writes of other processes',
    file: 'server/instances/follow-log.ts',
    from: '      await applyNewEntries()\n',
    to: '',
    shows: 'real twins',
  },
  {
    name: 'leases of other processes are ignored',
    file: LEASE,
    from: "if (taken === 'first' || taken === 'again') return",
    to: 'if (taken !== undefined) return',
    shows: 'twins',
  },
  {
    name: 'marking one purchase as answered marks all purchases of its payer (SQL)',
    file: 'db/purchase/ledger.ts',
    from: `WHERE payer = $payer AND nonce = $nonce AND unanswered = 1`,
    to: `WHERE payer = $payer AND unanswered = 1`,
  },
  {
    name: 'a claim does not see an older unanswered purchase (SQL)',
    file: 'db/purchase/holds.ts',
    from: `  if (findPurchaseToResolveFirst(purchases, own) !== undefined) return { kind: 'prior' }\n`,
    to: '',
  },
  {
    name: 'a new payment is demanded while another process works on the first one',
    file: SCRIPT,
    from: `  if (known?.state.kind === 'reserved') yield* markUncertain(known)
  return addChargeStatus(createAlreadyProcessingFailure(), undefined)`,
    to: `  return createPaymentRequiredFailure('another process is at it')`,
  },
  {
    name: 'a payment that another process has resumed is rejected all the same',
    file: RUN,
    from: 'if (now?.state.kind !== findKnownState(run.steps))',
    to: 'if (now?.state.kind !== now?.state.kind)',
  },
  {
    name: 'one facilitator’s denial counts although another may have sent the payment',
    file: RING,
    from: 'if (!answers.every(isDenial)) return createUnclearResult(findLastNamed(answers))',
    to: 'if (!answers.some(isDenial)) return createUnclearResult(findLastNamed(answers))',
    seed: 482,
  },
  {
    name: 'a success that the chain denied is believed',
    file: RING,
    from: `answers.push(...given.map((one) => (one.kind === 'success' ? createUnclearResult(findNamedTransaction(one)) : one)))`,
    to: 'answers.push(...given)',
  },
  {
    name: 'a nonce that its payer signs again counts as a forgery',
    file: SCRIPT,
    from: `? 'signed'
    : yield* requestStep({ do: 'check-signature', payment })`,
    to: `? 'signed'
    : 'not-signed'`,
    seed: 64,
  },
  {
    name: 'a released payment is renewed for another price',
    file: 'server/domain/purchase/payment.ts',
    from: `  one.to === other.to &&
  one.amount === other.amount &&`,
    to: '  one.to === other.to &&',
    shows: 'real prices',
  },
  {
    name: 'a purchase shows the listing that was sent last',
    file: 'test/endurance/sim/ledger-model.ts',
    from: 'const { target, listing, head } = known ?? { target: asked, listing: draft, head: height }',
    to: `const { target, listing, head } = { ...(known ?? { target: asked, head: height }), listing: draft }`,
  },
  {
    name: 'the painter of a purchase is not stored (SQL)',
    file: 'db/purchase/holds.ts',
    from: 'painter === null ? doNothing() : storePurchasePainter(payment, painter)',
    to: 'doNothing()',
  },
  {
    name: 'a payment identifier is forgotten',
    file: 'test/endurance/sim/ledger-model.ts',
    from: 'const isNamed = identifier !== undefined && payment.identifier === identifier',
    to: 'const isNamed = false && payment.identifier === identifier',
    seed: 977,
  },
  {
    name: 'a payment identifier is not stored (SQL)',
    file: 'db/purchase/holds.ts',
    from: `    identifier: payment.identifier ?? null,
    ...toOrderColumns(payment),`,
    to: `    identifier: null,
    ...toOrderColumns(payment),`,
  },
  {
    name: 'the server does not notice that a client disconnected',
    file: SELLER,
    from: 'buyInTurn(runs, { target, payment, listing }, client)',
    to: 'buyInTurn(runs, { target, payment, listing }, STAYING)',
  },
  {
    name: 'a void payment is reported as charged',
    file: 'server/domain/purchase/charging.ts',
    from: `return { charged: isOver ? 'no' : 'unknown' }`,
    to: `return { charged: isOver ? 'yes' : 'unknown' }`,
    seed: 0,
  },
  {
    name: 'a payment that may still move is reported as uncharged',
    file: 'server/domain/purchase/charging.ts',
    from: `if (statusOf[code] >= 500) return { charged: 'unknown' }`,
    to: `if (statusOf[code] >= 500) return { charged: 'no' }`,
    seed: 0,
  },
  ...mutantsOfAreas,
  ...mutantsOfClients,
  ...mutantsOfTheChain,
  ...mutantsOfTheOperator,
]
