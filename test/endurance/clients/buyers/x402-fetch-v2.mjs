import { ExactEvmScheme } from '@x402/evm/exact/client'
import { createSIWxClientExtension } from '@x402/extensions/sign-in-with-x'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { privateKeyToAccount } from 'viem/accounts'

const signer = privateKeyToAccount(process.env.PRIVATE_KEY)
const client = new x402Client()
  .register('eip155:8453', new ExactEvmScheme(signer))
  .registerExtension(createSIWxClientExtension({ signers: [signer] }))
const { TARGET, BODY } = process.env
const headers = { 'content-type': 'application/json' }
const init = BODY === undefined ? {} : { method: 'POST', headers, body: BODY }
const response = await wrapFetchWithPayment(fetch, client)(TARGET, init)
console.log(response.status, await response.text())
