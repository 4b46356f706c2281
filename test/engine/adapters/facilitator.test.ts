import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHttpFacilitator, type FacilitatorSettings } from '../../../server/adapters/facilitator/facilitator.ts'
import { isFailure } from '../../../server/domain/failure.ts'
import type { SettleResult } from '../../../server/domain/purchase/facilitator-errors.ts'
import type { Payment } from '../../../server/domain/purchase/payment.ts'
import { startLocalNetwork, type LocalNetwork } from '../../../server/local/network.ts'
import { dollarAbi, dollarAddress } from '../../../server/local/token/contracts.ts'
import { findFreePort } from '../../../server/local/wall-process.ts'
import { readPayment } from '../../../server/x402/payload.ts'
import { buildDemand, toRequirements } from '../../../server/x402/terms.ts'
import {
  inventedHash,
  startFaultyFacilitator,
  type FaultyFacilitator,
  type SettleFault,
  type VerifyFault,
} from '../../support/chain/faulty-facilitator.ts'
import { startLoopbackServers } from '../../support/chain/loopback.ts'
import { createOneDollarTerms, signPayment } from '../../support/chain/payments.ts'
import { toLowerAddress, createOffer, signOffer } from '../../support/chain/signing.ts'
import { scaleLimit } from '../../support/machine.ts'
import { parseBlockOrThrow } from '../../support/samples.ts'
import { testFacilitator } from '../ports/facilitator.contract.ts'

// Goal: every response of a facilitator over HTTP is classified by what it proves. Method: the real facilitator,
// directly and behind a misbehaving proxy, and servers that return one fixed response.

const offer = createOffer()
const BLOCK = parseBlockOrThrow('3,4')

let network: LocalNetwork
let faulty: FaultyFacilitator
const serve = startLoopbackServers()
beforeAll(async () => {
  network = await startLocalNetwork()
  faulty = await startFaultyFacilitator(network.callFacilitator)
})
afterAll(async () => {
  await faulty.stop()
  await network.stop()
})

const patient = { verifyTimeoutMs: scaleLimit(5000), settleTimeoutMs: scaleLimit(5000), authorize: undefined }

const openFacilitator = (url: string, settings: Partial<FacilitatorSettings> = {}) =>
  createHttpFacilitator({ ...patient, url, ...settings }, offer)

/** Opens a facilitator that returns the same response to every request. */
const openAnsweringFacilitator = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  openFacilitator(serve(() => Response.json(body, { status, headers })))

/** Returns an address on which no server listens. */
const findClosedUrl = async () => `http://127.0.0.1:${await findFreePort()}`

const createPayment = async (dollars: number) => signOffer(await network.createFundedWallet(dollars), offer)

testFacilitator('HTTP', async () => ({
  facilitator: openFacilitator(network.facilitatorUrl),
  unreachable: openFacilitator(await findClosedUrl()),
  createPayment: () => createPayment(1),
  createUnaffordablePayment: () => createPayment(0),
  findTransaction: async ({ payer, nonce }) => {
    const logs = await network.client.getContractEvents({
      address: dollarAddress,
      abi: dollarAbi,
      eventName: 'AuthorizationUsed',
      args: { authorizer: payer, nonce },
      fromBlock: 0n,
    })
    const moved = await network.readBalance(payer)
    return logs.length === 1 && moved === 0n ? logs[0]?.transactionHash : undefined
  },
}))

describe('a facilitator behind a faulty connection', () => {
  const unclear: SettleResult = { kind: 'unclear' }
  const named = { kind: 'unclear', tx: expect.stringMatching(/^0x[0-9a-f]{64}$/) }
  const invented: SettleResult = { kind: 'success', tx: inventedHash as `0x${string}` }
  const createRefusal = (reason: string): SettleResult => ({ kind: 'refused', reason })
  const settled: Record<SettleFault, readonly [reported: object, moved: boolean]> = {
    'hang-before': [unclear, false],
    'hang-after': [unclear, true],
    'error-json-after': [unclear, true],
    'error-html-after': [unclear, true],
    'error-before': [unclear, false],
    'busy-before': [unclear, false],
    'unreadable-before': [{ kind: 'unclear', unreadable: true }, false],
    'failed-after': [createRefusal('invalid_exact_evm_transaction_failed'), true],
    'lost-hash-after': [unclear, true],
    'pending-after': [named, true],
    'pending-500-after': [named, true],
    'invented-hash': [invented, false],
    'invented-hash-after': [invented, true],
    'reset-before': [unclear, false],
    'reset-after': [unclear, true],
    'refused-recipient': [createRefusal('invalid_exact_evm_recipient_mismatch'), false],
    garbage: [unclear, false],
    'garbage-after': [unclear, true],
  }

  test.each(Object.entries(settled) as [SettleFault, (typeof settled)[SettleFault]][])(
    'a settle request with the fault %s is classified by what its response proves, whether or not the dollar moved',
    async (fault, [reported, moved]) => {
      const payer = await network.createFundedWallet(1)
      const payment = await signOffer(payer, offer)
      const forwarded = faulty.settle.countForwarded()
      faulty.settle.queueFaults(fault)
      const limits = fault.startsWith('hang') ? { settleTimeoutMs: scaleLimit(300) } : {}
      expect<object>(await openFacilitator(faulty.url, limits).settle(BLOCK, payment)).toEqual(reported)
      if (moved) await faulty.settle.waitForForward(forwarded + 1)
      expect(await network.readBalance(payer.address)).toBe(moved ? 0n : 1_000_000n)
    },
  )

  const verified: Record<VerifyFault, object> = {
    'error-500': { kind: 'unavailable' },
    'error-503': { kind: 'unavailable' },
    'error-429': { kind: 'unavailable' },
    unreadable: { kind: 'unavailable', unreadable: true },
    hang: { kind: 'unavailable' },
    reset: { kind: 'unavailable' },
    garbage: { kind: 'unavailable' },
    'insufficient-funds': { kind: 'invalid', reason: 'invalid_exact_evm_insufficient_balance' },
    'bad-signature': { kind: 'invalid', reason: 'invalid_exact_evm_signature' },
  }

  test.each(Object.entries(verified) as [VerifyFault, object][])(
    'a verify request with the fault %s is classified by what its response proves',
    async (fault, answer) => {
      const payment = await createPayment(1)
      faulty.verify.queueFaults(fault)
      expect<object>(
        await openFacilitator(faulty.url, { verifyTimeoutMs: scaleLimit(300) }).verify(BLOCK, payment),
      ).toEqual(answer)
    },
  )

  test('if the connection is cut after a settle request arrived, the outcome is unclear, even if the server no longer listens', async () => {
    let heard = 0
    const listener = Bun.listen({
      hostname: '127.0.0.1',
      port: await findFreePort(),
      socket: {
        data(socket) {
          heard += 1
          if (heard === 1)
            return void socket.write('HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\n{}')
          listener.stop(true)
        },
      },
    })
    const facilitator = openFacilitator(`http://127.0.0.1:${listener.port}`)
    const payment = await createPayment(0)
    expect(await facilitator.settle(BLOCK, payment)).toEqual({ kind: 'unclear' })
    expect(await facilitator.settle(BLOCK, payment)).toEqual({ kind: 'unclear' })
    expect(heard).toBe(2)
    expect(await facilitator.settle(BLOCK, payment)).toEqual({ kind: 'unsent' })
  })

  test('each verify or settle request uses a new connection, because a server may close an idle one as the request arrives', async () => {
    const ports: (number | undefined)[] = []
    const url = serve((request, server) => {
      ports.push(server.requestIP(request)?.port)
      return Response.json({ isValid: true, success: true, transaction: inventedHash, network: 'eip155:8453' })
    })
    const facilitator = openFacilitator(url)
    const payment = await createPayment(0)
    for (let times = 0; times < 2; times++) {
      expect(await facilitator.verify(BLOCK, payment)).toEqual({ kind: 'valid' })
      expect<object>(await facilitator.settle(BLOCK, payment)).toEqual({ kind: 'success', tx: inventedHash })
    }
    expect(ports).toHaveLength(4)
    expect(new Set(ports).size).toBe(4)
  })

  test('a settle request to a host name that does not resolve counts as not sent', async () => {
    expect(await openFacilitator('http://nowhere.invalid').settle(BLOCK, await createPayment(0))).toEqual({
      kind: 'unsent',
    })
  })
})

describe('unusual responses', () => {
  const tx = `0x${'AB'.repeat(32)}`
  const claimed = { success: true, transaction: tx, network: 'eip155:8453' }
  const failed = { success: false, transaction: '', network: 'eip155:8453' }
  const words = 'the facilitator rejected the payment'

  test('a transaction hash in upper case is converted to lower case', async () => {
    const settling = await openAnsweringFacilitator(200, claimed).settle(BLOCK, await createPayment(0))
    expect(settling).toEqual({ kind: 'success', tx: toLowerAddress(tx) })
  })

  test.each([
    ['a word instead of a hash', { ...claimed, transaction: 'done' }],
    ['a hash cut short', { ...claimed, transaction: tx.slice(0, -1) }],
    ['a hash with an extra character', { ...claimed, transaction: `${tx}\n` }],
    ['a hash without its prefix', { ...claimed, transaction: tx.slice(2) }],
    ['another network', { ...claimed, network: 'eip155:84532' }],
    ['another name for the network', { ...claimed, network: 'base' }],
    ['no network', { success: true, transaction: tx }],
    ['success as a string', { ...claimed, success: 'true' }],
    ['an empty object', {}],
  ])('a settle response with status 200 and %s is unclear', async (_, body) => {
    expect(await openAnsweringFacilitator(200, body).settle(BLOCK, await createPayment(0))).toEqual({ kind: 'unclear' })
  })

  test.each([
    [400, { ...failed, errorReason: 'invalid_payload' }, { kind: 'refused', reason: 'invalid_payload' }],
    [402, { success: false }, { kind: 'refused', reason: words }],
    [409, { ...failed, errorReason: 'settlement_pending', transaction: tx }, { kind: 'unclear', tx: tx.toLowerCase() }],
    [200, { ...failed, errorReason: 'insufficient_funds', transaction: tx }, { kind: 'unclear', tx: tx.toLowerCase() }],
    [500, { ...failed, errorReason: 'settlement_pending', transaction: tx }, { kind: 'unclear', tx: tx.toLowerCase() }],
    [504, { ...failed, transaction: 'sent' }, { kind: 'unclear' }],
    [400, { errorType: 'invalid_request' }, { kind: 'unclear', unreadable: true }],
    [429, { error: 'slow down' }, { kind: 'unclear' }],
    [500, { ...failed, errorReason: 'invalid_exact_evm_recipient_mismatch' }, { kind: 'unclear' }],
    [502, { ...failed, success: true }, { kind: 'unclear' }],
  ])('a settle response with status %i is classified by what it proves (%#)', async (status, body, settling) => {
    expect<object>(await openAnsweringFacilitator(status, body).settle(BLOCK, await createPayment(0))).toEqual(settling)
  })

  test.each([
    [200, { isValid: false, invalidReason: 'insufficient_funds' }, { kind: 'invalid', reason: 'insufficient_funds' }],
    [200, { isValid: false }, { kind: 'invalid', reason: words }],
    [402, { isValid: false, invalidReason: 'invalid_scheme' }, { kind: 'invalid', reason: 'invalid_scheme' }],
    [401, { isValid: false, invalidReason: 'unauthorized' }, { kind: 'unavailable' }],
    [429, { isValid: false, invalidReason: 'slow_down' }, { kind: 'unavailable' }],
    [400, { isValid: true }, { kind: 'invalid', reason: words }],
    [400, { error: 'bad request' }, { kind: 'unavailable', unreadable: true }],
    [422, { error: 'too long' }, { kind: 'unavailable', unreadable: true }],
    [404, { error: 'not here' }, { kind: 'unavailable' }],
    [500, { isValid: false, invalidReason: 'unexpected_verify_error' }, { kind: 'unavailable' }],
    [503, { isValid: true }, { kind: 'unavailable' }],
    [200, { isValid: 1 }, { kind: 'unavailable' }],
  ])('a verify response with status %i is classified by what it proves (%#)', async (status, body, answer) => {
    expect<object>(await openAnsweringFacilitator(status, body).verify(BLOCK, await createPayment(0))).toEqual(answer)
  })

  test.each([
    ['a sentence', 'call https://node.example/key=1 reverted'],
    ['markup', '<b>no</b>'],
    ['longer than 80 characters', 'a'.repeat(81)],
    ['a number', 12],
    ['a list', ['insufficient_funds']],
    ['null', null],
  ])('a reason that is %s is not passed on', async (_, reason) => {
    const payment = await createPayment(0)
    for (const status of [200, 400]) {
      const verifying = openAnsweringFacilitator(status, { isValid: false, invalidReason: reason }).verify(
        BLOCK,
        payment,
      )
      const settling = openAnsweringFacilitator(status, { ...failed, errorReason: reason }).settle(BLOCK, payment)
      const isWord = status === 400 || typeof reason === 'string' || reason === null
      expect<object>(await verifying).toEqual(isWord ? { kind: 'invalid', reason: words } : { kind: 'unavailable' })
      expect<object>(await settling).toEqual(isWord ? { kind: 'refused', reason: words } : { kind: 'unclear' })
    }
  })
})

describe('redirects and endless responses', () => {
  test('a redirect is not followed, and the outcome of a settle request that gets one is unclear', async () => {
    let followed = 0
    const elsewhere = serve(() => {
      followed += 1
      return Response.json({ isValid: true, success: true, transaction: inventedHash, network: NETWORK, kinds: [] })
    })
    const payment = await createPayment(0)
    for (const status of [301, 302, 303, 307, 308]) {
      for (const to of [elsewhere, await findClosedUrl()]) {
        const facilitator = openFacilitator(serve(({ url }) => Response.redirect(to + new URL(url).pathname, status)))
        expect(await facilitator.verify(BLOCK, payment)).toEqual({ kind: 'unavailable' })
        expect(await facilitator.settle(BLOCK, payment)).toEqual({ kind: 'unclear' })
        expect(await facilitator.checkSupport()).toBe('unavailable')
      }
    }
    expect(followed).toBe(0)
  })

  test('an endless response is read only up to the size limit, and proves nothing', async () => {
    let chunks = 0
    const padding = new Uint8Array(65_536).fill(0x20)
    const createEndlessBody = () =>
      new ReadableStream({
        pull(stream) {
          chunks += 1
          if (chunks > 1000) stream.close()
          else stream.enqueue(padding)
        },
      })
    for (const status of [200, 400]) {
      chunks = 0
      const facilitator = openFacilitator(serve(() => new Response(createEndlessBody(), { status })))
      const payment = await createPayment(0)
      expect(await facilitator.verify(BLOCK, payment)).toEqual({ kind: 'unavailable' })
      expect(await facilitator.settle(BLOCK, payment)).toEqual({ kind: 'unclear' })
      expect(await facilitator.checkSupport()).toBe('unavailable')
      expect(chunks).toBeLessThan(1000)
    }
  })
})

describe('requests to a facilitator', () => {
  test("a payment is sent to the facilitator with our terms, whatever the payer's client echoed", async () => {
    const stock = await signPayment(await network.createFundedWallet(1), createOneDollarTerms(offer.terms.payTo))
    const echo = {
      ...stock,
      resource: { url: 'https://other.example/', description: 'mine' },
      accepted: { ...stock.accepted, maxTimeoutSeconds: 1, extra: { name: 'Other' } },
      extensions: { bazaar: { info: 'edited' }, own: {} },
    }
    const payment = readPayment(echo)
    if (isFailure(payment)) throw new Error(payment.message)
    const facilitator = openFacilitator(faulty.url)
    expect(await facilitator.verify(BLOCK, payment)).toEqual({ kind: 'valid' })
    expect(await facilitator.settle(BLOCK, payment)).toMatchObject({ kind: 'success' })

    const requirements = toRequirements(offer, offer.terms)
    const { resource, extensions } = buildDemand(offer, BLOCK)
    const lowerCased = { ...Object(stock.payload['authorization']), from: payment.payer, to: payment.to }
    for (const call of [faulty.verify, faulty.settle]) {
      expect(JSON.parse(call.listBodies().at(-1) ?? '')).toEqual({
        x402Version: 2,
        paymentPayload: {
          x402Version: 2,
          resource,
          accepted: requirements,
          payload: { signature: payment.signature, authorization: lowerCased },
          extensions: { own: {}, ...extensions },
        },
        paymentRequirements: requirements,
      })
    }
  })

  test('a payment is sent with our extensions and the client’s data for other extensions, and a bare call sends it without any extension', async () => {
    const bodies: unknown[] = []
    const url = serve(async (request) => {
      bodies.push(await request.json())
      return Response.json({ isValid: true })
    })
    const { extensions } = buildDemand(offer, BLOCK)
    const builder = { info: { code: 'bc_7' } }
    const payment = await createPayment(0)
    const facilitator = openFacilitator(url)
    await facilitator.verify(BLOCK, { ...payment, extensions: { builder, bazaar: 'mine' } })
    await facilitator.settle(BLOCK, payment)
    expect(bodies.map((body) => Object(body).paymentPayload.extensions)).toEqual([
      { builder, ...extensions },
      extensions,
    ])
    for (const call of ['verify', 'settle'] as const) {
      await facilitator[call](BLOCK, { ...payment, extensions: { builder } }, { withinMs: 5000, isBare: true })
      const { paymentPayload } = Object(bodies.at(-1))
      expect(Object.keys(paymentPayload)).toEqual(['x402Version', 'accepted', 'payload'])
    }
  })

  test('only names, statuses and reasons that look like codes are passed on from a facilitator’s report about extensions', async () => {
    const statuses: unknown[] = []
    const verifyWithExtension = async (value: string) => {
      const url = serve(() => Response.json({ isValid: true }, { headers: { 'EXTENSION-RESPONSES': value } }))
      const facilitator = openFacilitator(url, { onExtension: (said) => void statuses.push(said) })
      expect(await facilitator.verify(BLOCK, await createPayment(0))).toEqual({ kind: 'valid' })
      return statuses.splice(0)
    }
    const encodeJson = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
    const rejected = { status: 'rejected', rejectedReason: 'resource_not_https' }
    expect(
      await verifyWithExtension(
        encodeJson({ bazaar: rejected, 'Ignore all': { status: 'success' }, other: { status: 'A b' } }),
      ),
    ).toEqual([{ extension: 'bazaar', status: 'rejected', reason: 'resource_not_https' }])
    expect(
      await verifyWithExtension(encodeJson({ bazaar: { status: 'processing', rejectedReason: 'Do this: x' } })),
    ).toEqual([{ extension: 'bazaar', status: 'processing' }])
    for (const value of ['', '%%%', encodeJson(null), encodeJson([1]), encodeJson({ bazaar: null }), encodeJson('x')])
      expect(await verifyWithExtension(value)).toEqual([])
  })

  test('each call carries the credentials that were made for it', async () => {
    const seen: string[] = []
    const url = serve((request) => {
      seen.push(`${new URL(request.url).pathname} ${request.headers.get('authorization')}`)
      return Response.json({})
    })
    const authorize = async (method: string, address: string) => ({
      authorization: `Bearer ${method} ${address.slice(url.length)}`,
    })
    const facilitator = openFacilitator(url, { authorize })
    const payment = await createPayment(0)
    await facilitator.verify(BLOCK, payment)
    await facilitator.settle(BLOCK, payment)
    await facilitator.checkSupport()
    expect(seen).toEqual([
      '/verify Bearer POST /verify',
      '/settle Bearer POST /settle',
      '/supported Bearer GET /supported',
    ])
  })
})

describe('each kind of call', () => {
  /**
   * Opens a facilitator that responds once the gate is open; `most` is the highest number of concurrent calls of one
   * kind.
   */
  function createGate() {
    const gate = Promise.withResolvers<void>()
    const running = { '/verify': 0, '/settle': 0 }
    const full = { '/verify': Promise.withResolvers<void>(), '/settle': Promise.withResolvers<void>() }
    let most = 0
    const url = serve(async (request) => {
      const path = new URL(request.url).pathname === '/verify' ? '/verify' : '/settle'
      running[path] += 1
      most = Math.max(most, running[path])
      if (running[path] === AT_ONCE) full[path].resolve()
      await gate.promise
      running[path] -= 1
      return Response.json({ isValid: true, success: true, transaction: inventedHash, network: NETWORK })
    })
    return { facilitator: openFacilitator(url), gate, full, most: () => most }
  }
  const [AT_ONCE, WAITING] = [64, 256]
  const collectKinds = async (answers: readonly Promise<{ kind: string }>[]) =>
    new Set((await Promise.all(answers)).map(({ kind }) => kind))

  test.each(['verify', 'settle'] as const)(
    'at most 64 %s calls are in flight and 256 wait, and one more is rejected as busy',
    async (call) => {
      const { facilitator, gate, full, most } = createGate()
      const payment: Payment = await createPayment(0)
      const calls = Array.from({ length: AT_ONCE + WAITING }, () => facilitator[call](BLOCK, payment))
      await full[`/${call}`].promise
      expect<object>(await facilitator[call](BLOCK, payment)).toEqual({ kind: 'busy' })
      gate.resolve()
      expect(await collectKinds(calls)).toEqual(new Set([call === 'verify' ? 'valid' : 'success']))
      expect(most()).toBe(AT_ONCE)
    },
  )

  test('a full queue of verifications does not delay settlements, because each kind of call has its own limit', async () => {
    const { facilitator, gate, full } = createGate()
    const payment: Payment = await createPayment(0)
    const verifying = Array.from({ length: AT_ONCE + WAITING }, () => facilitator.verify(BLOCK, payment))
    await full['/verify'].promise
    const settling = Array.from({ length: AT_ONCE }, () => facilitator.settle(BLOCK, payment))
    await full['/settle'].promise
    gate.resolve()
    expect(await collectKinds(settling)).toEqual(new Set(['success']))
    await Promise.all(verifying)
  })
})

const NETWORK = 'eip155:8453'

describe('the support of a facilitator', () => {
  const kind = { x402Version: 2, scheme: 'exact', network: NETWORK }
  const openSupportingFacilitator = (...kinds: object[]) =>
    openAnsweringFacilitator(200, { kinds, extensions: [], signers: {} })

  test('a facilitator supports the wall only if version, scheme and network match', async () => {
    expect(await openSupportingFacilitator({ ...kind, network: 'eip155:1' }, kind).checkSupport()).toBe('yes')
    expect(
      await openSupportingFacilitator({ ...kind, x402Version: 1 }, { ...kind, scheme: 'upto' }).checkSupport(),
    ).toBe('no')
    expect(await openSupportingFacilitator({ ...kind, network: 'eip155:84532' }).checkSupport()).toBe('no')
    expect(await openSupportingFacilitator().checkSupport()).toBe('no')
  })

  test('if a facilitator fails, returns malformed data or hangs, it is unknown whether it supports the wall', async () => {
    expect(await openAnsweringFacilitator(500, {}).checkSupport()).toBe('unavailable')
    expect(await openAnsweringFacilitator(200, { kinds: 'all' }).checkSupport()).toBe('unavailable')
    const hanging = openFacilitator(
      serve(() => new Promise(() => undefined)),
      { verifyTimeoutMs: 100 },
    )
    expect(await hanging.checkSupport()).toBe('unavailable')
  })

  test('a facilitator counts as working if it handles a probe payment of an impossible amount, and otherwise its problem is reported', async () => {
    expect(await openFacilitator(network.facilitatorUrl).checkSupport('verify')).toBe('yes')
    const problems: (string | null)[] = []
    const supported = { kinds: [kind], extensions: [], signers: {} }
    const probeFacilitator = (answer: () => Response | Promise<Response>) =>
      openFacilitator(
        serve((request) => (request.url.endsWith('/supported') ? Response.json(supported) : answer())),
        { verifyTimeoutMs: scaleLimit(200), onProbed: (trouble) => void problems.push(trouble) },
      ).checkSupport('verify')
    const createInvalidAnswer = (invalidReason: string) => () => Response.json({ isValid: false, invalidReason })
    const createPageAnswer = (status: number) => () => new Response('<h1>sorry</h1>', { status })
    for (const answer of [
      () => Response.json({ isValid: true }),
      createInvalidAnswer('insufficient_funds'),
      createPageAnswer(400),
    ])
      expect([await probeFacilitator(answer), problems.pop()]).toEqual(['yes', null])
    const broken: [() => Response | Promise<Response>, string][] = [
      [() => new Promise(() => {}), 'does not respond to verify requests'],
      [createPageAnswer(500), 'returns status 500 for /verify'],
      [createPageAnswer(401), 'rejects our API key, or needs one (401)'],
      [createPageAnswer(404), 'has no /verify at its address (404)'],
      [createPageAnswer(200), 'does not return JSON'],
      [() => Response.json({}), 'does not return a valid x402 response for /verify'],
      [createInvalidAnswer('invalid_exact_evm_signature'), 'rejects valid signatures'],
    ]
    for (const [answer, trouble] of broken)
      expect([await probeFacilitator(answer), problems.pop()]).toEqual(['unavailable', trouble])
  })

  test('while a facilitator is rate-limiting us, it is unknown whether it supports the wall', async () => {
    const url = serve(() => new Response('later', { status: 429, headers: { 'retry-after': '30' } }))
    expect(await openFacilitator(url, { verifyTimeoutMs: 100 }).checkSupport()).toBe('unavailable')
  })
})
