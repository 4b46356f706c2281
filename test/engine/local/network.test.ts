import { afterAll, beforeAll, expect, test } from 'bun:test'
import { getAddress } from 'viem'
import { AnvilMissing, findAnvilBinary } from '../../../server/local/anvil-binary.ts'
import { startChain } from '../../../server/local/chain.ts'
import { startLocalNetwork } from '../../../server/local/network.ts'
import type { LocalNetwork } from '../../../server/local/network.ts'
import { createWallet } from '../../../server/local/wallets.ts'
import { createFacilitatorClient, createOneDollarTerms, signPayment } from '../../support/chain/payments.ts'
import { scaleLimit } from '../../support/machine.ts'

// Goal: the embedded network settles and rejects payments, and ends, as the demo and the tests require. Method: the
// facilitator client of the x402 SDK, and processes that end. The contract suite of facilitators covers the promises of
// any facilitator.

let network: LocalNetwork
beforeAll(async () => {
  network = await startLocalNetwork()
})
afterAll(() => network.stop())

const createSellerTerms = () => createOneDollarTerms(createWallet().address)

test('payments without funds, with a used nonce or to another payee are each rejected with a different reason', async () => {
  const terms = createSellerTerms()
  const facilitator = createFacilitatorClient(network.facilitatorUrl)
  const poor = await signPayment(await network.createFundedWallet(0.5), terms)
  expect((await facilitator.verify(poor, terms)).invalidReason).toBe('invalid_exact_evm_insufficient_balance')

  const spent = await signPayment(await network.createFundedWallet(2), terms)
  await facilitator.settle(spent, terms)
  expect((await facilitator.verify(spent, terms)).invalidReason).toBe('invalid_exact_evm_nonce_already_used')

  const elsewhere = await signPayment(await network.createFundedWallet(1), createSellerTerms())
  expect((await facilitator.verify(elsewhere, terms)).invalidReason).toBe('invalid_exact_evm_recipient_mismatch')
})

test('after a transfer is dropped from the transaction pool, the next transfer still settles', async () => {
  const terms = createSellerTerms()
  const facilitator = createFacilitatorClient(network.facilitatorUrl)
  const [first, second] = [await network.createFundedWallet(1), await network.createFundedWallet(1)]
  const [lost, kept] = [await signPayment(first, terms), await signPayment(second, terms)]
  await network.halt()
  const pending = new Promise<`0x${string}`>((resolve) => {
    const unwatch = network.client.watchPendingTransactions({
      onTransactions: ([hash]) => {
        unwatch()
        if (hash) resolve(hash)
      },
    })
  })
  // This settlement returns only when the network stops, because the facilitator waits for a receipt that never
  // arrives.
  void facilitator.settle(lost, terms).catch(() => undefined)
  await network.client.dropTransaction({ hash: await pending })
  await network.resume()
  expect(await facilitator.settle(kept, terms)).toMatchObject({ success: true, payer: second.address })
  expect(await network.readBalance(first.address)).toBe(1_000_000n)
})

test('the local facilitator returns a JSON error for each invalid request', async () => {
  const terms = createSellerTerms()
  const payment = await signPayment(createWallet(), terms)
  const ask = { x402Version: 2, paymentPayload: payment, paymentRequirements: terms }
  const postToFacilitator = (path: string, body: string) =>
    fetch(network.facilitatorUrl + path, { method: 'POST', body })
  const answers: [Response, number, string][] = [
    [await postToFacilitator('/verify', '{'), 400, 'invalid_request'],
    [await postToFacilitator('/settle', '[]'), 400, 'invalid_request'],
    [await postToFacilitator('/settle', JSON.stringify({ ...ask, x402Version: 1 })), 400, 'invalid_request'],
    [await postToFacilitator('/verify', renderUnsignedRequest(ask)), 500, 'unexpected_verify_error'],
    [await postToFacilitator('/settle', renderUnsignedRequest(ask)), 500, 'unexpected_settle_error'],
    [await fetch(`${network.facilitatorUrl}/settle`), 405, 'method_not_allowed'],
    [await fetch(`${network.facilitatorUrl}/`), 404, 'not_found'],
  ]
  for (const [response, status, error] of answers) {
    expect({ status: response.status, body: await response.json() }).toEqual({ status, body: { error } })
  }
})

test('on a chain that mines a block every 200 ms, parallel payments all settle', async () => {
  const slow = await startLocalNetwork({ blockTimeSeconds: 0.2 })
  const terms = createSellerTerms()
  const facilitator = createFacilitatorClient(slow.facilitatorUrl)
  const payers = await Promise.all(Array.from({ length: 5 }, () => slow.createFundedWallet(1)))
  const payments = await Promise.all(payers.map((payer) => signPayment(payer, terms)))
  const settled = await Promise.all(payments.map((payment) => facilitator.settle(payment, terms)))
  expect(settled.map((result) => result.success)).toEqual(payments.map(() => true))
  expect(await slow.readBalance(getAddress(terms.payTo))).toBe(5_000_000n)
  await slow.stop()
})

test('a settlement whose receipt does not arrive in time is reported as pending, with the hash of its transaction', async () => {
  const hasty = await startLocalNetwork({ confirmationTimeoutMs: scaleLimit(250) })
  const terms = createSellerTerms()
  const payment = await signPayment(await hasty.createFundedWallet(1), terms)
  await hasty.halt()
  const facilitator = createFacilitatorClient(hasty.facilitatorUrl)
  const settled = await facilitator.settle(payment, terms)
  expect(settled).toMatchObject({ success: false, errorReason: 'settlement_pending' })
  await hasty.client.mine({ blocks: 1 })
  expect(await facilitator.settle(payment, terms)).toMatchObject({ success: true, transaction: settled.transaction })
  await hasty.stop()
})

test('the process of a chain no longer exists after the chain is stopped', async () => {
  const chain = await startChain()
  await chain.stop()
  expect(() => process.kill(chain.pid, 0)).toThrow()
})

test('the chain process ends even if the process that started it is killed', async () => {
  const chainModule = new URL('../../../server/local/chain.ts', import.meta.url).pathname
  const program = `
    const { startChain } = await import(${JSON.stringify(chainModule)})
    console.log((await startChain()).rpcUrl)
    setInterval(() => {}, 1000)`
  const parent = Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe' })
  const { value } = await parent.stdout.getReader().read()
  const { hostname, port } = new URL(new TextDecoder().decode(value).trim())
  const closed = new Promise<void>((resolve) => {
    const socket = { data() {}, open: () => parent.kill('SIGKILL'), close: () => resolve() }
    void Bun.connect({ hostname, port: Number(port), socket })
  })
  await closed
  await expect(fetch(`http://${hostname}:${port}`)).rejects.toThrow()
})

test('on a machine without anvil, the error says what is missing and what still works', () => {
  expect(() => findAnvilBinary('sunos-sparc')).toThrow(AnvilMissing)
  expect(() => findAnvilBinary('sunos-sparc')).toThrow(/no anvil for sunos-sparc.*linux-x64.*bun run start/)
  expect(() => findAnvilBinary('win32-x64')).toThrow(/@foundry-rs\/anvil-win32-amd64.*is not installed/)
})

const renderUnsignedRequest = (ask: { paymentPayload: object }) =>
  JSON.stringify({ ...ask, paymentPayload: { ...ask.paymentPayload, payload: {} } })
