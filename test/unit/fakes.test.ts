import { chainContract } from '../engine/ports/chain.contract.ts'
import { facilitatorContract } from '../engine/ports/facilitator.contract.ts'
import { walletsContract } from '../engine/ports/wallets.contract.ts'
import { fakeChain } from '../support/fakes/chain.ts'
import { fakeFacilitator } from '../support/fakes/facilitator.ts'
import { FORGED, fakeWallets, signatureOf } from '../support/fakes/wallets.ts'
import { hash, paymentOf, wallet } from '../support/samples.ts'

// Goal: the fakes behave like the real parts. Method: the suites of the ports, run on the fakes.

/** A payment that no test has seen. */
let seen = 0
const newPayment = async () => {
  seen += 1
  return paymentOf(seen, seen)
}

chainContract('fakes', async () => {
  const chain = fakeChain()
  const gone = Object.assign(fakeChain(), { silent: true })
  const foreign = Object.assign(fakeChain(), { wrong: 'the chain endpoint serves another network' })
  const end = async (payment: Awaited<ReturnType<typeof newPayment>>) => chain.cancel(payment)
  return {
    chain,
    gone,
    foreign,
    payment: newPayment,
    land: async (payment) => chain.land(payment),
    give: async (payment, amount) => chain.give(payment.payer, payment.to, amount),
    cancel: end,
    spendElsewhere: end,
    expire: async (payment) => chain.expire(payment),
  }
})

facilitatorContract('fakes', async () => {
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
    payment: newPayment,
    unaffordable: async () => {
      facilitator.verification = { kind: 'invalid', reason }
      facilitator.settling = { kind: 'refused', reason }
      return await newPayment()
    },
    landed: async (payment) => {
      const status = await chain.status(payment, 0n)
      return status.kind === 'paid' ? status.tx : undefined
    },
  }
})

const signer = (number: number) => ({
  address: wallet(number),
  sign: async (message: string) => signatureOf(wallet(number), message),
})

walletsContract('fakes', async () => ({
  wallets: fakeWallets,
  owner: signer(1),
  stranger: signer(2),
  payment: newPayment,
  forged: async () => ({ ...(await newPayment()), nonce: hash(1), signature: FORGED }),
}))
