import { wrapAxiosWithPaymentFromConfig } from '@x402/axios'
import { ExactEvmScheme } from '@x402/evm'
import axios from 'axios'
import { privateKeyToAccount } from 'viem/accounts'

const client = new ExactEvmScheme(privateKeyToAccount(process.env.PRIVATE_KEY))
const api = wrapAxiosWithPaymentFromConfig(axios.create(), { schemes: [{ network: 'eip155:8453', client }] })
const { status, data } = await api.get(process.env.TARGET)
console.log(status, data)
