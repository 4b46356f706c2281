/** Bugs to plant: each is a change of the source that a tired engineer could make, and that some history must show. */

export type Mutant = {
  readonly name: string
  readonly file: string // in the repository
  readonly from: string // as the source has it, exactly once
  readonly to: string
  readonly isCheap?: true // found within so few histories that every test run can do it
}

const SCRIPT = 'server/domain/purchase.ts'
const DRIVER = 'server/purchase/seller.ts'
const SWEEP = 'server/purchase/reconciler.ts'
const NOTES = 'server/usecases/unwritten.ts'
const WAITED = 'server/usecases/waited-for.ts'

export const mutants: readonly Mutant[] = [
  {
    name: 'a timeout is taken for a refusal',
    file: 'server/domain/reasons.ts',
    from: `if (settling.kind === 'unsent') return`,
    to: `if (settling.kind === 'unsent' || settling.kind === 'unclear') return`,
    isCheap: true,
  },
  {
    name: 'every refusal is definite',
    file: 'server/domain/reasons.ts',
    from: 'definiteReasons.has(reason)',
    to: 'reason.length > 0',
  },
  {
    name: 'a refusal on a retry is final',
    file: SCRIPT,
    from: `  const settling = yield* ask({ do: 'settle', purchase: doubted })\n`,
    to: `  const settling = yield* ask({ do: 'settle', purchase: doubted })
  if (settling.kind === 'refused')
    return { purchase: yield* release(doubted, false), refusal: paymentRequired(settling.reason) }\n`,
  },
  {
    name: 'a success is believed without the chain',
    file: SCRIPT,
    from: `  if (verdict.kind === 'paid') return yield* finalize(purchase, verdict.tx, true)\n`,
    to: `  if (settling?.kind === 'success') return yield* finalize(purchase, settling.tx, true)
  if (verdict.kind === 'paid') return yield* finalize(purchase, verdict.tx, true)\n`,
    isCheap: true,
  },
  {
    name: 'what was released is not watched',
    file: SCRIPT,
    from: 'return purchase.state.dead ? purchase : (yield* watch(purchase)).purchase',
    to: 'return purchase',
  },
  {
    name: 'a definite refusal is not held against the chain',
    file: SCRIPT,
    from: `  const verdict = yield* askChain(purchase, 'none')
  if (verdict.kind !== 'unspent') return yield* conclude(purchase, verdict, settling)
  const released`,
    to: `  const verdict = { kind: 'unspent' } as const
  const released`,
  },
  {
    name: 'the listing is read before the payment is looked up',
    file: SCRIPT,
    from: `  const known = yield* ask({ do: 'look-up', key: order.payment })\n`,
    to: `  if ('code' in order.listing) return refused(order.listing)
  const known = yield* ask({ do: 'look-up', key: order.payment })\n`,
  },
  {
    name: 'the rail is asked before the payment is looked up',
    file: SCRIPT,
    from: `  const known = yield* ask({ do: 'look-up', key: order.payment })\n`,
    to: `  if (!order.armed) return refused(facilitatorUnavailable(UNREACHABLE))
  const known = yield* ask({ do: 'look-up', key: order.payment })\n`,
  },
  {
    name: 'payments are taken before the open ones were looked at',
    file: SCRIPT,
    from: 'if (!order.armed)',
    to: 'if (false as boolean)',
  },
  {
    name: 'a spent authorization is taken for a new one',
    file: SCRIPT,
    from: 'if (chain.spent) {',
    to: 'if (false as boolean) {',
  },
  {
    name: 'a used authorization of a known payment is not looked at',
    file: SCRIPT,
    from: '    if (released !== undefined) return yield* answerFrom(yield* watch(released), order)\n',
    to: '',
  },
  {
    name: 'a refusal to verify is not held against the chain',
    file: SCRIPT,
    from: `  const verdict = yield* ask({ do: 'ask-chain', payment, head, patience: 'none' })\n`,
    to: `  const verdict: Verdict = { kind: 'unspent', ...(head < 0n ? { kind: 'paid', tx: payment.nonce } : {}) }\n`,
  },
  {
    name: 'a late landing is not noticed',
    file: SCRIPT,
    from: `    const given = yield* ask({ do: 'owe', purchase, tx: verdict.tx })
    return { purchase: given, verdict, refusal: settlementUnknown(given.block) }`,
    to: '    return { purchase, verdict, refusal: settlementUnknown(purchase.block) }',
  },
  {
    name: 'an end that a reorganisation can undo is taken for final',
    file: SCRIPT,
    from: 'yield* release(purchase, verdict.final === true)',
    to: 'yield* release(purchase, true)',
  },
  {
    name: 'a sale is not looked at again',
    file: SCRIPT,
    from: '      yield* lookBack(purchase, purchase.state.settled)\n',
    to: '',
  },
  {
    name: 'a sale that cannot be written is a refusal',
    file: SCRIPT,
    from: 'refusal: notPersisted(purchase.block) }',
    to: `refusal: paymentRequired('the deed could not be written') }`,
  },
  {
    name: 'money is sent before the block is held',
    file: SCRIPT,
    from: `  const claiming = yield* ask({ do: 'claim',`,
    to: `  yield* ask({ do: 'settle', purchase: { payment, target, block: 0, listing, head: 0n, state: { kind: 'reserved', uncertain: false, attempt: 1 } } as never })
  const claiming = yield* ask({ do: 'claim',`,
    isCheap: true,
  },
  {
    name: 'a payment answers for every block',
    file: SCRIPT,
    from: `  if (!answersOn(known, order.target)) return refused(paymentUsed(known.block))\n`,
    to: '',
  },
  {
    name: 'a block that was got late is taken for the one asked for',
    file: SCRIPT,
    from: 'return answersOn(purchase, order.target) ? yield* deliver(purchase) : refused(paymentUsed(block))',
    to: 'return yield* deliver(purchase)',
  },
  {
    name: "an older purchase's receipt is for any block",
    file: SCRIPT,
    from: `return answersOn(other, asked) ? { kind: 'bought', purchase: other } : refused(earlierElsewhere(other.block))`,
    to: `return { kind: 'bought', purchase: other }`,
  },
  {
    name: 'a held block is given back where the chain is silent',
    file: SCRIPT,
    from: `  return { purchase: yield* doubt(purchase), verdict, refusal: settlementUnknown(purchase.block) }`,
    to: `  if (verdict.kind === 'silent') return { purchase: yield* release(purchase, false), verdict, refusal: facilitatorUnavailable(UNREACHABLE) }
  return { purchase: yield* doubt(purchase), verdict, refusal: settlementUnknown(purchase.block) }`,
  },
  {
    name: 'doubt is told and not written',
    file: SCRIPT,
    from: `  if (purchase.state.kind !== 'reserved' || purchase.state.uncertain) return purchase\n`,
    to: '  return purchase\n',
  },
  {
    name: 'doubt that the store did not take is forgotten',
    file: DRIVER,
    from: 'orNote(ledger.markUncertain(purchase), () => notes.markUncertain(purchase))',
    to: 'ledger.markUncertain(purchase)',
  },
  {
    name: 'a landing that the store did not take is forgotten',
    file: DRIVER,
    from: 'orNote(ledger.owe(purchase, tx, clock.now()), () => notes.land(purchase, tx))',
    to: 'ledger.owe(purchase, tx, clock.now())',
  },
  {
    name: 'notes of what the store did not take are never written',
    file: NOTES,
    from: 'find(([, purchase]) => purchase.payment.payer === payer)',
    to: 'find(([key]) => key === payer)',
  },
  {
    name: 'a client that hangs up is not noticed',
    file: WAITED,
    from: 'if (inHand !== undefined) notes.markUncertain(inHand)',
    to: 'if (inHand === undefined) return',
  },
  {
    name: 'a receipt is noted as delivered to a client that hung up',
    file: WAITED,
    from: `      if (clients.gone()) return true
      const wasOwed = await orAnyway(world.deliver(request))
      // It is noted before it is sent, so whoever hangs up in between is owed it again.
      if (wasOwed) hold(delivered(request.purchase))
      return wasOwed
`,
    to: `      return await orAnyway(world.deliver(request))
`,
  },
  {
    name: 'two runs of one payment overlap',
    file: 'server/purchase/single-flight.ts',
    from: 'before.then(work, work)',
    to: 'Promise.race([before, Promise.resolve()]).then(work, work)',
  },
  {
    name: 'the operator is not told of a payment that was lost',
    file: DRIVER,
    from: `      alarm('payment-lost', purchase)\n`,
    to: '',
  },
  {
    name: 'the operator is told of a lost payment only after that was written',
    file: DRIVER,
    from: `      alarm('payment-lost', purchase)\n      return ledger.writeOff(purchase)\n`,
    to: `      return ledger.writeOff(purchase).then(() => alarm('payment-lost', purchase))\n`,
  },
  {
    name: 'a sweep that could not be made counts as one',
    file: SWEEP,
    from: `      return 'failed'\n`,
    to: `      return 'seen'\n`,
  },
  {
    name: 'a broken run of the seller is thrown at its client',
    file: DRIVER,
    from: `    if (!(error instanceof StoreUnavailable)) throw error
    return { kind: 'refused', failure: storeUnavailable() }`,
    to: '    throw error',
  },
  {
    name: 'a sale forgets that its payer waits (SQL)',
    file: 'db/sqlite/sales.ts',
    from: 'owed: state.uncertain }',
    to: 'owed: false }',
  },
  {
    name: 'a claim does not see an older purchase in doubt (SQL)',
    file: 'db/sqlite/holds.ts',
    from: `if (sql.unansweredSibling.get(sibling) !== null) return { kind: 'in-doubt' }`,
    to: '',
  },
  {
    name: 'the time of a sale may go back (SQL)',
    file: 'db/sqlite/log.ts',
    from: 'at: Math.max(now, before.at)',
    to: 'at: now',
  },
  {
    name: 'holds are not counted (SQL)',
    file: 'db/sqlite/holds.ts',
    from: 'one(sql.heldBy, { payer }).count >= HOLDS_MAX',
    to: 'one(sql.heldBy, { payer }).count < 0',
  },
  {
    name: 'what was released is left out of the sweep (SQL)',
    file: 'db/sqlite/ledger.ts',
    from: `AND (settled = 0 OR`,
    to: `AND state <> 'released' AND (settled = 0 OR`,
  },
  {
    name: 'an edit sent twice is applied twice (SQL)',
    file: 'db/sqlite/edits.ts',
    from: `return known.number === changed ? 'repeated' : 'superseded'`,
    to: `return known.number === changed ? 'repeated' : 'new'`,
  },
  {
    name: 'a payment that another process is at is answered with a demand',
    file: 'server/domain/put-off.ts',
    from: `  return { kind: 'refused', failure: stillAtIt() }`,
    to: `  return { kind: 'refused', failure: { code: 'payment_required', message: '' } }`,
  },
  {
    name: 'what another process took up is refused all the same',
    file: 'server/usecases/other-hands.ts',
    from: 'if (now?.state.kind !== known?.state.kind) throw',
    to: 'if (now?.state.kind !== now?.state.kind) throw',
  },
  {
    name: 'a purchase whose process died counts as one under way',
    file: 'server/usecases/other-hands.ts',
    from: `    else if (found?.state.kind === 'reserved') stranded.push(found)\n`,
    to: '',
  },
  {
    name: 'what another process is at is not waited for',
    file: 'server/usecases/other-hands.ts',
    from: `if (found === 'elsewhere') elsewhere = held\n    else if (found?`,
    to: `if (found !== 'elsewhere' && found?`,
  },
  {
    name: 'a refusal frees a block that another process has had settled',
    file: 'test/sim/ledger-model.ts',
    from: `    if (isDoubted && before.kind === 'reserved' && !before.doubted) throw new Overtaken('settled by another')\n`,
    to: '',
  },
  {
    name: "a process arms on another's unfinished look",
    file: SWEEP,
    from: `return unseen?.size === 0 ? 'seen' : 'partly'`,
    to: `return unseen === undefined || unseen.size === 0 ? 'seen' : 'partly'`,
  },
  {
    name: 'a process arms while another has what was open',
    file: SWEEP,
    from: `return unseen?.size === 0 ? 'seen' : 'partly'`,
    to: `return unseen === undefined ? 'partly' : 'seen'`,
  },
  {
    name: 'a run that may fail before it looks counts as a look',
    file: DRIVER,
    from: 'return desk.looked.has(keyOf(key))',
    to: 'return true',
  },
]
