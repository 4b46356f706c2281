import axios from 'axios'
import { createWalletClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { withPaymentInterceptor } from 'x402-axios'

const account = privateKeyToAccount(process.env.PRIVATE_KEY)
const wallet = createWalletClient({ account, chain: base, transport: http(process.env.RPC_URL) })
const { status, data } = await withPaymentInterceptor(axios.create(), wallet).get(process.env.TARGET)
console.log(status, data)
