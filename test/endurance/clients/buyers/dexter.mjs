import { wrapFetch } from '@dexterai/x402/client'

const response = await wrapFetch(fetch, { evmPrivateKey: process.env.PRIVATE_KEY })(process.env.TARGET)
console.log(response.status, await response.text())
