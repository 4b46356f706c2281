import { createWalletClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { wrapFetchWithPayment } from 'x402-fetch'

const account = privateKeyToAccount(process.env.PRIVATE_KEY)
const wallet = createWalletClient({ account, chain: base, transport: http(process.env.RPC_URL) })
// By default, the library pays at most ten cents.
const response = await wrapFetchWithPayment(fetch, wallet, 1_000_000n)(process.env.TARGET)
console.log(response.status, await response.text())
