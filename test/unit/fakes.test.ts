import { testChain } from '../engine/ports/chain.contract.ts'
import { testFacilitator } from '../engine/ports/facilitator.contract.ts'
import { testWallets } from '../engine/ports/wallets.contract.ts'
import { fakeChain } from '../support/fakes/chain.ts'
import { fakeFacilitator } from '../support/fakes/facilitator.ts'
import { FORGED, fakeWallets, signatureOf } from '../support/fakes/wallets.ts'
import { hash, paymentOf, createWalletAddress } from '../support/samples.ts'

// Goal: the fakes behave like the real parts. Method: the suites of the ports, run on the fakes.

/** A payment that no test has used before. */
let seen = 0
const createPayment = async () => {
  seen += 1
  return paymentOf(seen, seen)
}

testChain('fakes', async () => {
  const chain = fakeChain()
  const gone = Object.assign(fakeChain(), { silent: true })
  const foreign = Object.assign(fakeChain(), { wrong: 'the chain endpoint serves another network' })
  const cancelPayment = async (payment: Awaited<ReturnType<typeof createPayment>>) => chain.cancel(payment)
  return {
    chain,
    gone,
    foreign,
    payment: createPayment,
    land: async (payment) => chain.land(payment),
    give: async (payment, amount) => chain.give(payment.payer, payment.to, amount),
    cancel: cancelPayment,
    spendElsewhere: cancelPayment,
    expire: async (payment) => chain.expire(payment),
  }
})

testFacilitator('fakes', async () => {
  const chain = fakeChain()
  const facilitator = fakeFacilitator(chain)
  const reason = 'invalid_exact_evm_insufficient_balance'
  return {
    facilitator,
    unreachable: Object.assign(fakeFacilitator(chain), {
      verification: { kind: 'unavailable' },
      settling: { kind: 'unsent' },
      supported: 'unavailable',
      signing: 'unavailable',
    } as const),
    payment: createPayment,
    unaffordable: async () => {
      facilitator.verification = { kind: 'invalid', reason }
      facilitator.settling = { kind: 'refused', reason }
      return await createPayment()
    },
    landed: async (payment) => {
      const status = await chain.status(payment, 0n)
      return status.kind === 'paid' ? status.tx : undefined
    },
  }
})

const createSigner = (number: number) => ({
  address: createWalletAddress(number),
  sign: async (message: string) => signatureOf(createWalletAddress(number), message),
})

testWallets('fakes', async () => ({
  wallets: fakeWallets,
  owner: createSigner(1),
  stranger: createSigner(2),
  payment: createPayment,
  forged: async () => ({ ...(await createPayment()), nonce: hash(1), signature: FORGED }),
}))
