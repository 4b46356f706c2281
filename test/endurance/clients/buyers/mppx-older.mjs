import { Mppx } from 'mppx-older/client'
import { evm } from 'mppx-older/evm/client'
import { privateKeyToAccount } from 'viem/accounts'

const account = privateKeyToAccount(process.env.PRIVATE_KEY)
const mppx = Mppx.create({ methods: [evm({ account })], polyfill: false })
const response = await mppx.fetch(process.env.TARGET)
console.log(response.status, await response.text())
