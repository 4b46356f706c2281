/** Wallets in the browser: how they announce themselves (EIP-6963), and requests to them (EIP-1193). */

/** A wallet that announced itself. Its name is untrusted text. */
export type BrowserWallet = { readonly id: string; readonly name: string; readonly provider: Provider }

export type Provider = {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>
}

/** Calls `onWallet` once for each wallet that is present or appears later. */
export function discoverWallets(onWallet: (wallet: BrowserWallet) => void) {
  const known = new Set<string>()
  window.addEventListener('eip6963:announceProvider', (event) => {
    const wallet = 'detail' in event ? parseWallet(event.detail) : undefined
    if (wallet === undefined || known.has(wallet.id)) return
    known.add(wallet.id)
    onWallet(wallet)
  })
  window.dispatchEvent(new Event('eip6963:requestProvider'))
}

const NAME_MAX = 40

function parseWallet(detail: unknown): BrowserWallet | undefined {
  if (!isRecord(detail) || !isRecord(detail['info'])) return undefined
  const { uuid, name } = detail['info']
  const provider = detail['provider']
  if (typeof uuid !== 'string' || typeof name !== 'string' || !isProvider(provider)) return undefined
  return { id: uuid, name: name.slice(0, NAME_MAX) || 'Wallet', provider }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const isProvider = (value: unknown): value is Provider => isRecord(value) && typeof value['request'] === 'function'

/** Why a wallet rejected a request; `declined` is true if the user rejected it. */
export type WalletRefusal = { readonly declined: boolean; readonly words: string }

/** Requests access to a wallet; returns the address of its first account. */
export async function requestAccount({ provider }: BrowserWallet): Promise<string | WalletRefusal> {
  return await callWallet(async () => {
    const accounts = await provider.request({ method: 'eth_requestAccounts' })
    const first: unknown = Array.isArray(accounts) ? accounts[0] : undefined
    return isAddress(first) ? first : { declined: false, words: 'This wallet has no account.' }
  })
}

/** Requests an EIP-191 signature of a text. */
export async function personalSign(
  { provider }: BrowserWallet,
  address: string,
  text: string,
): Promise<string | WalletRefusal> {
  return await callWallet(async () => {
    const signature = await provider.request({
      method: 'personal_sign',
      params: [`0x${new TextEncoder().encode(text).toHex()}`, address],
    })
    const isHex = typeof signature === 'string' && /^0x[0-9a-fA-F]+$/.test(signature)
    return isHex ? signature : { declined: false, words: 'The wallet did not return a signature.' }
  })
}

/** Whether a value is an Ethereum address in hex. */
export const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)

// EIP-1193: the user rejected the request.
const REJECTED = 4001

async function callWallet<T>(ask: () => Promise<T>): Promise<T | WalletRefusal> {
  try {
    return await ask()
  } catch (error) {
    const declined = isRecord(error) && error['code'] === REJECTED
    const said = isRecord(error) && typeof error['message'] === 'string' ? error['message'] : 'no reason given'
    return { declined, words: declined ? 'You declined to sign.' : `The wallet rejected the request: ${said}` }
  }
}
