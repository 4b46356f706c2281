import { privateKeyToAccount } from 'viem/accounts'
import { ExactEvmScheme } from 'x402-evm-older/exact/client'
import { wrapFetchWithPayment, x402Client } from 'x402-fetch-older'

const client = new x402Client().register(
  'eip155:8453',
  new ExactEvmScheme(privateKeyToAccount(process.env.PRIVATE_KEY)),
)
const response = await wrapFetchWithPayment(fetch, client)(process.env.TARGET)
console.log(response.status, await response.text())
