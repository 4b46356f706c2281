import { testChain } from '../engine/ports/chain.contract.ts'
import { testFacilitator } from '../engine/ports/facilitator.contract.ts'
import { testWallets } from '../engine/ports/wallets.contract.ts'
import { createFakeChain } from '../support/fakes/chain.ts'
import { createFakeFacilitator } from '../support/fakes/facilitator.ts'
import { FORGED, fakeWallets, computeSignature } from '../support/fakes/wallets.ts'
import { toHash, createTestPayment, createWalletAddress } from '../support/samples.ts'

// Goal: the fakes behave like the real parts. Method: run the contract suite of each port on its fake.

/** The number of payments created so far, which makes each payment different. */
let seen = 0
const createPayment = async () => {
  seen += 1
  return createTestPayment(seen, seen)
}

testChain('fakes', async () => {
  const chain = createFakeChain()
  const gone = Object.assign(createFakeChain(), { silent: true })
  const foreign = Object.assign(createFakeChain(), { wrong: 'the chain endpoint serves another network' })
  const cancelPayment = async (payment: Awaited<ReturnType<typeof createPayment>>) => chain.cancelAuthorization(payment)
  return {
    chain,
    gone,
    foreign,
    createPayment,
    settle: async (payment) => chain.transferPayment(payment),
    transferDirectly: async (payment, amount) => chain.transferDirectly(payment.payer, payment.to, amount),
    cancelAuthorization: cancelPayment,
    spendElsewhere: cancelPayment,
    expire: async (payment) => chain.expireAuthorization(payment),
  }
})

testFacilitator('fakes', async () => {
  const chain = createFakeChain()
  const facilitator = createFakeFacilitator(chain)
  const reason = 'invalid_exact_evm_insufficient_balance'
  return {
    facilitator,
    unreachable: Object.assign(createFakeFacilitator(chain), {
      verification: { kind: 'unavailable' },
      settling: { kind: 'unsent' },
      supported: 'unavailable',
      signing: 'unavailable',
    } as const),
    createPayment,
    createUnaffordablePayment: async () => {
      facilitator.verification = { kind: 'invalid', reason }
      facilitator.settling = { kind: 'refused', reason }
      return await createPayment()
    },
    findTransaction: async (payment) => {
      const status = await chain.readPaymentStatus(payment, 0n)
      return status.kind === 'paid' ? status.tx : undefined
    },
  }
})

const createSigner = (number: number) => ({
  address: createWalletAddress(number),
  sign: async (message: string) => computeSignature(createWalletAddress(number), message),
})

testWallets('fakes', async () => ({
  wallets: fakeWallets,
  owner: createSigner(1),
  stranger: createSigner(2),
  createPayment,
  createForgedPayment: async () => ({ ...(await createPayment()), nonce: toHash(1), signature: FORGED }),
}))
