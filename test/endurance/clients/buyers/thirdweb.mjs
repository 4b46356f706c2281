import { createThirdwebClient } from 'thirdweb'
import { base } from 'thirdweb/chains'
import { privateKeyToAccount } from 'thirdweb/wallets'
import { createWalletAdapter } from 'thirdweb/wallets'
import { wrapFetchWithPayment } from 'thirdweb/x402'

const client = createThirdwebClient({ clientId: 'nobody' })
const adaptedAccount = privateKeyToAccount({ client, privateKey: process.env.PRIVATE_KEY })
const wallet = createWalletAdapter({ client, adaptedAccount, chain: base, onDisconnect() {}, switchChain() {} })
const response = await wrapFetchWithPayment(fetch, client, wallet)(process.env.TARGET)
console.log(response.status, await response.text())
