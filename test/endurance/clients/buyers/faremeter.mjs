import { wrap } from '@faremeter/fetch'
import { createPaymentHandler } from '@faremeter/payment-evm/exact'
import { createLocalWallet } from '@faremeter/wallet-evm'

const wallet = await createLocalWallet({ id: 8453, name: 'Base' }, process.env.PRIVATE_KEY)
const response = await wrap(fetch, { handlers: [createPaymentHandler(wallet)] })(process.env.TARGET)
console.log(response.status, await response.text())
