import { describe, expect, test } from 'bun:test'
import type { SettleResult, VerifyResult } from '../../../server/domain/purchase/facilitator-errors.ts'
import { createFacilitatorRing } from '../../../server/purchase/facilitator-ring.ts'
import { testFacilitator } from '../../engine/ports/facilitator.contract.ts'
import { createFakeChain } from '../../support/fakes/chain.ts'
import { createFakeClock, type FakeClock } from '../../support/fakes/clock.ts'
import { createFakeFacilitator, type FakeFacilitator } from '../../support/fakes/facilitator.ts'
import { createFakeLogger } from '../../support/fakes/logger.ts'
import { toHash, NOW, createTestPayment } from '../../support/samples.ts'

// Goal: buyers are served while any facilitator works, each buyer is charged once, and no charge that a facilitator may
// have sent is denied. Method: a ring of facilitators in memory over a chain in memory.

const [FIRST, SECOND] = ['first.example', 'second.example']

/** A clock on which an abortable wait lasts until the test advances the time, and any other wait takes no real time. */
function createPatientClock(): FakeClock {
  const clock = createFakeClock(NOW)
  const waiting = new Set<() => void>()
  return {
    ...clock,
    wait: (ms, signal) => {
      if (signal === undefined) return clock.wait(ms)
      const due = clock.elapsed() + ms
      return new Promise((resolve) => {
        waiting.add(() => clock.elapsed() >= due && resolve())
        signal.addEventListener('abort', () => resolve())
      })
    },
    advance(ms) {
      clock.advance(ms)
      for (const wake of waiting) wake()
    },
  }
}

/** A ring of two facilitators on one chain. */
function createRingOfTwo() {
  const [chain, clock, logger] = [createFakeChain(), createPatientClock(), createFakeLogger()]
  const [first, second] = [createFakeFacilitator(chain, FIRST), createFakeFacilitator(chain, SECOND)]
  const limits = { verifyTimeoutMs: 5000, settleTimeoutMs: 30_000 }
  const ring = createFacilitatorRing({ members: [first, second], chain, clock, logger, ...limits })
  const listNotes = () =>
    logger.notes.map(({ facts }) => [facts['call'], facts['facilitator'], facts['answer'], facts['next']])
  return { chain, clock, first, second, ring, listNotes }
}

let nonces = 0
const createPayment = () => createTestPayment(1, ++nonces)

const DEFINITE: SettleResult = { kind: 'refused', reason: 'invalid_exact_evm_insufficient_balance' }
const VAGUE: SettleResult = { kind: 'refused', reason: 'invalid_transaction_state' }
const INVENTED: SettleResult = { kind: 'success', tx: toHash(0xdead) }
const UNSENT: SettleResult = { kind: 'unsent' }
const UNCLEAR: SettleResult = { kind: 'unclear' }
const NAMED: SettleResult = { kind: 'unclear', tx: toHash(0xdead) }
const BUSY: SettleResult = { kind: 'busy' }
const UNREADABLE = { kind: 'unclear', unreadable: true } as const

const poor = 'invalid_exact_evm_insufficient_balance'

for (const isFirstDown of [false, true])
  testFacilitator(isFirstDown ? 'a ring whose first member is down' : 'a ring', async () => {
    const { chain, clock, first, second, ring } = createRingOfTwo()
    const down = { verification: { kind: 'unavailable' }, settling: UNSENT, supported: 'unavailable' } as const
    if (isFirstDown) Object.assign(first, down)
    const gone = Object.assign(createFakeFacilitator(chain), down)
    const deps = { chain, clock, logger: createFakeLogger(), verifyTimeoutMs: 5000, settleTimeoutMs: 5000 }
    return {
      facilitator: ring,
      unreachable: createFacilitatorRing({ ...deps, members: [gone, gone] }),
      createPayment: async () => createPayment(),
      createUnaffordablePayment: async () => {
        for (const member of [first, second])
          Object.assign(member, { verification: { kind: 'invalid', reason: poor }, settling: DEFINITE })
        return createPayment()
      },
      findTransaction: async (payment) => {
        const status = await chain.readPaymentStatus(payment, 0n)
        return status.kind === 'paid' ? status.tx : undefined
      },
    }
  })

describe('a settlement', () => {
  test.each<[string, SettleResult]>([
    ['cannot be reached', UNSENT],
    ['gives no clear answer', UNCLEAR],
    ['refuses a payment that it may have sent', VAGUE],
    ['refuses a valid payment', DEFINITE],
    ['invents a transaction', INVENTED],
    ['is overloaded', BUSY],
  ])('the second facilitator settles if the first one %s, and the journal says so', async (_, settling) => {
    const { first, second, ring, listNotes } = createRingOfTwo()
    first.settling = settling
    const payment = createPayment()
    expect(await ring.settle('next', payment)).toEqual({ kind: 'success', tx: toHash(1), by: SECOND })
    expect([first.settled.length, second.settled.length]).toEqual([1, 1])
    expect(listNotes()).toEqual([['settle', FIRST, settling.kind, 'the next facilitator']])
  })

  test.each<[string, SettleResult, SettleResult, SettleResult]>([
    ['neither facilitator was reached', UNSENT, UNSENT, { ...UNSENT }],
    ['both facilitators were busy', BUSY, BUSY, { ...BUSY, by: FIRST }],
    ['one facilitator was not reached and the other was busy', UNSENT, BUSY, { ...BUSY, by: SECOND }],
    ['both facilitators refused before the broadcast', DEFINITE, DEFINITE, { ...DEFINITE, by: FIRST }],
    ['one facilitator was not reached and the other refused', UNSENT, DEFINITE, { ...DEFINITE, by: SECOND }],
    ['the first facilitator may have sent the payment', UNCLEAR, DEFINITE, UNCLEAR],
    ['the first facilitator may have sent the payment before it refused', VAGUE, DEFINITE, UNCLEAR],
    ['the second facilitator may have sent the payment', DEFINITE, UNCLEAR, UNCLEAR],
    ['the chain denies the success of the first facilitator', INVENTED, DEFINITE, NAMED],
    ['the chain denies the success of the first facilitator, and the second was not reached', INVENTED, UNSENT, NAMED],
    ['the first facilitator names a transaction', NAMED, UNCLEAR, NAMED],
  ])(
    'if %s, the settlement returns what the results of both facilitators prove together',
    async (_, one, other, together) => {
      const { first, second, ring } = createRingOfTwo()
      first.settling = one
      second.settling = other
      expect(await ring.settle('next', createPayment())).toEqual(together)
    },
  )

  test('a settlement that the chain shows is not repeated, whatever the first facilitator says', async () => {
    for (const settling of [UNCLEAR, VAGUE, DEFINITE]) {
      const { chain, first, second, ring } = createRingOfTwo()
      const payment = createPayment()
      first.settle = async () => {
        chain.transferPayment(payment)
        return settling
      }
      expect((await ring.settle('next', payment)).kind).toBe(settling.kind)
      expect(second.settled).toEqual([])
    }
  })

  test('while the chain does not respond, a success that a facilitator reports counts as a success', async () => {
    const { chain, first, ring } = createRingOfTwo()
    chain.silent = true
    first.settling = INVENTED
    expect(await ring.settle('next', createPayment())).toEqual({ ...INVENTED, by: FIRST })
  })

  test('if the chain denies a reported success, the settlement counts as unclear, even if no time is left for another facilitator', async () => {
    const { clock, first, second, ring } = createRingOfTwo()
    first.settle = async () => {
      clock.advance(20_000)
      return INVENTED
    }
    second.settle = async () => expect.unreachable()
    clock.wait = async () => clock.advance(5000)
    expect(await ring.settle('next', createPayment())).toEqual(NAMED)
  })

  test('each facilitator gets its share of the settlement time, and the next one also gets the time that the previous one left unused', async () => {
    const { clock, first, second, ring } = createRingOfTwo()
    first.settle = async (_, _payment, manner) => {
      clock.advance(4000)
      first.manners.push(manner)
      return UNCLEAR
    }
    await ring.settle('next', createPayment())
    expect([first.manners.at(-1), second.manners.at(-1)]).toEqual([
      { withinMs: 15_000, isBare: false },
      { withinMs: 26_000, isBare: false },
    ])
  })

  test.each<[string, (world: ReturnType<typeof createRingOfTwo>) => void]>([
    ['the chain cannot be queried', ({ chain }) => void (chain.silent = true)],
    ['all the time is used up', ({ clock }) => clock.advance(31_000)],
  ])('after an unclear result of the first facilitator, no other facilitator settles if %s', async (_, happens) => {
    const world = createRingOfTwo()
    world.first.settle = async () => {
      happens(world)
      return UNCLEAR
    }
    expect((await world.ring.settle('next', createPayment())).kind).toBe('unclear')
    expect(world.second.settled).toEqual([])
  })
})

describe('a verification', () => {
  test.each<[string, VerifyResult]>([
    ['does not respond', { kind: 'unavailable' }],
    ['is overloaded', { kind: 'busy' }],
    ['rejects a valid signature', { kind: 'invalid', reason: 'invalid_exact_evm_signature' }],
    ['rejects a payer with enough money as too poor', { kind: 'invalid', reason: poor }],
  ])('if the first facilitator %s, the second one verifies the payment', async (_, verification) => {
    const { first, ring, listNotes } = createRingOfTwo()
    first.verification = verification
    expect(await ring.verify('next', createPayment())).toEqual({ kind: 'valid', by: SECOND })
    expect(listNotes()).toEqual([['verify', FIRST, verification.kind, 'the next facilitator']])
  })

  test.each<[VerifyResult, VerifyResult, VerifyResult]>([
    [{ kind: 'unavailable' }, { kind: 'invalid', reason: poor }, { kind: 'invalid', reason: poor, by: SECOND }],
    [{ kind: 'invalid', reason: poor }, { kind: 'unavailable' }, { kind: 'invalid', reason: poor, by: FIRST }],
    [
      { kind: 'invalid', reason: 'invalid_exact_evm_signature' },
      { kind: 'invalid', reason: poor },
      { kind: 'invalid', reason: poor, by: SECOND },
    ],
    [{ kind: 'unavailable' }, { kind: 'busy' }, { kind: 'busy', by: SECOND }],
    [{ kind: 'unavailable' }, { kind: 'unavailable' }, { kind: 'unavailable' }],
  ])(
    'if no facilitator accepts a payment, the verification returns the most definite result (%#)',
    async (one, other, together) => {
      const { first, second, ring } = createRingOfTwo()
      first.verification = one
      second.verification = other
      expect(await ring.verify('next', createPayment())).toEqual(together)
    },
  )
})

describe('a facilitator that is slow to verify', () => {
  /** A ring whose first facilitator verifies a payment only when the test settles `late`. */
  function createSlowFirstRing() {
    const ring = createRingOfTwo()
    const late = Promise.withResolvers<VerifyResult>()
    ring.first.verify = async (_, _payment, manner) => {
      ring.first.manners.push(manner)
      return await late.promise
    }
    return { ...ring, late }
  }
  const waitForTurn = () => new Promise((resolve) => setImmediate(resolve))

  test('if a facilitator has not verified a payment within a second, the next one is called as well, and the first acceptance decides', async () => {
    for (const isFirstFaster of [false, true]) {
      const { clock, first, second, ring, late } = createSlowFirstRing()
      const answers = Promise.withResolvers<VerifyResult>()
      if (isFirstFaster)
        second.verify = async (_, _payment, manner) => {
          second.manners.push(manner)
          return await answers.promise
        }
      const verifying = ring.verify('next', createPayment())
      clock.advance(999)
      await waitForTurn()
      expect(second.manners).toEqual([])
      clock.advance(1)
      await waitForTurn()
      // Each facilitator gets all the time that is left when it is called.
      expect([first.manners, second.manners]).toEqual([
        [{ withinMs: 5000, isBare: false }],
        [{ withinMs: 4000, isBare: false }],
      ])
      if (isFirstFaster) late.resolve({ kind: 'valid' })
      expect(await verifying).toEqual({ kind: 'valid', by: isFirstFaster ? FIRST : SECOND })
    }
  })

  test('if the next facilitator rejects a valid payment, the acceptance by the slow first one decides', async () => {
    const { clock, second, ring, late } = createSlowFirstRing()
    second.verification = { kind: 'invalid', reason: poor }
    const verifying = ring.verify('next', createPayment())
    clock.advance(1000)
    await waitForTurn()
    late.resolve({ kind: 'valid' })
    expect(await verifying).toEqual({ kind: 'valid', by: FIRST })
  })
})

describe('the verification of a facilitator', () => {
  test('one probe of a facilitator per minute includes a verification; after a failure for a buyer, every probe does so until one succeeds', async () => {
    const { clock, first, ring } = createRingOfTwo()
    const probeRing = async () => {
      await ring.checkSupport()
      return first.probes.at(-1)
    }
    expect([await probeRing(), await probeRing()]).toEqual(['verify', 'supported'])
    clock.advance(60_000)
    expect([await probeRing(), await probeRing()]).toEqual(['verify', 'supported'])
    first.verification = { kind: 'unavailable' }
    await ring.verify('next', createPayment())
    expect(ring.isSuspect()).toBe(true)
    first.supported = 'unavailable'
    expect([await probeRing(), await probeRing()]).toEqual(['verify', 'verify'])
    expect(ring.isSuspect()).toBe(false)
    first.supported = 'yes'
    expect([await probeRing(), await probeRing()]).toEqual(['verify', 'supported'])
  })

  test('a verification causes no early probe if the facilitator accepts or rejects the payment, or is busy', async () => {
    const { first, second, ring } = createRingOfTwo()
    await ring.verify('next', createPayment())
    for (const member of [first, second]) member.verification = { kind: 'invalid', reason: poor }
    await ring.verify('next', createPayment())
    for (const member of [first, second]) member.verification = { kind: 'busy' }
    await ring.verify('next', createPayment())
    expect(ring.isSuspect()).toBe(false)
  })
})

describe('a facilitator that cannot read what it is sent', () => {
  /** Makes a facilitator accept only bare payments. */
  function requireBarePayments(member: FakeFacilitator) {
    const { verify, settle } = member
    member.verify = async (target, payment, manner) =>
      manner?.isBare === true ? await verify(target, payment, manner) : { kind: 'unavailable', unreadable: true }
    member.settle = async (target, payment, manner) =>
      manner?.isBare === true ? await settle(target, payment, manner) : UNREADABLE
  }

  test('a facilitator that cannot read a payment gets it once more, without extensions', async () => {
    const { first, second, ring } = createRingOfTwo()
    requireBarePayments(first)
    const payment = createPayment()
    expect(await ring.verify('next', payment)).toEqual({ kind: 'valid', by: FIRST })
    expect(await ring.settle('next', payment)).toMatchObject({ kind: 'success', by: FIRST })
    expect(first.manners.map((manner) => manner?.isBare)).toEqual([true, true])
    expect([second.verified, second.settled]).toEqual([[], []])
    first.settling = { kind: 'refused', reason: 'invalid_payload' }
    expect(await ring.settle('next', createPayment())).toMatchObject({ kind: 'success', by: SECOND })
    expect(first.settled).toHaveLength(2)
  })

  test('if a facilitator received a payment twice, its rejection does not count as definite', async () => {
    const { first, second, ring } = createRingOfTwo()
    requireBarePayments(first)
    first.settling = DEFINITE
    second.settling = UNSENT
    expect(await ring.settle('next', createPayment())).toEqual(UNCLEAR)
  })
})

describe('a member that failed', () => {
  test('a facilitator that failed is used last, for a longer time after each failure, and is used first again once it works', async () => {
    const { clock, first, second, ring } = createRingOfTwo()
    const askRing = async () => {
      const before = first.settled.length
      expect((await ring.settle('next', createPayment())).kind).toBe('success')
      return first.settled.length > before
    }
    first.settling = UNCLEAR
    expect(await askRing()).toBe(true)
    expect(await askRing()).toBe(false)
    clock.advance(5000)
    expect(await askRing()).toBe(true)
    clock.advance(5000)
    expect(await askRing()).toBe(false)
    second.settling = UNSENT
    first.settling = 'honest'
    expect(await askRing()).toBe(true)
    second.settling = 'honest'
    expect(await askRing()).toBe(true)
  })

  test('a facilitator that does not say what it supports is used last until it does', async () => {
    const { first, ring } = createRingOfTwo()
    expect(await ring.checkSupport()).toBe('yes')
    first.supported = 'unavailable'
    expect(await ring.checkSupport()).toBe('yes')
    expect(await ring.verify('next', createPayment())).toEqual({ kind: 'valid', by: SECOND })
    first.supported = 'yes'
    await ring.checkSupport()
    expect(await ring.verify('next', createPayment())).toEqual({ kind: 'valid', by: FIRST })
  })

  test('a facilitator that does not support the network of the wall is not used if another facilitator supports it', async () => {
    const { first, second, ring } = createRingOfTwo()
    first.supported = 'no'
    second.verification = { kind: 'unavailable' }
    expect(await ring.checkSupport()).toBe('yes')
    expect(await ring.verify('next', createPayment())).toEqual({ kind: 'unavailable' })
    expect(first.verified).toEqual([])
    second.supported = 'unavailable'
    expect(await ring.checkSupport()).toBe('unavailable')
    second.supported = 'no'
    expect(await ring.checkSupport()).toBe('no')
  })
})

test('a client’s data for extensions reaches every facilitator that settles the payment', async () => {
  const { first, second, ring } = createRingOfTwo()
  const payment = createPayment()
  const extensions = { builder: { code: 'bc_7' } }
  await ring.verify('next', { ...payment, extensions })
  first.settling = UNCLEAR
  await ring.settle('next', payment)
  expect([first.settled, second.settled]).toEqual([[{ ...payment, extensions }], [{ ...payment, extensions }]])
  await ring.settle('next', createPayment())
  expect(second.settled.at(-1)?.extensions).toBeUndefined()
})
