import type { Address } from 'viem'
import { startChain, type Chain, type ChainOptions } from './chain.ts'
import { startFacilitator, type FacilitatorOptions } from './facilitator.ts'
import { dollarAbi, dollarAddress } from './token/contracts.ts'
import { createWallet, createMinter, type Fund, type Wallet } from './wallets.ts'

/** How the embedded network runs; see `ChainOptions` and `FacilitatorOptions`. */
export type LocalNetworkOptions = ChainOptions & Omit<FacilitatorOptions, 'rpcUrl'>

/** A chain, its dollar and a facilitator, which run on this machine until `stop` is called. */
export type LocalNetwork = Omit<Chain, 'pid'> & {
  facilitatorUrl: string
  /** Responds as the server at `facilitatorUrl` does, without a connection. */
  callFacilitator(request: Request): Promise<Response>
  fund: Fund
  /** A new wallet with this many dollars. */
  createFundedWallet(dollars: number): Promise<Wallet>
  /** The balance of an address in atomic units, of which a dollar has a million. */
  readBalance(address: Address): Promise<bigint>
}

/** Starts everything that a sale needs on free loopback ports; throws `AnvilMissing` if there is no anvil. */
export async function startLocalNetwork(options: LocalNetworkOptions = {}): Promise<LocalNetwork> {
  const chain = await startChain(options)
  const { rpcUrl, client, halt, resume } = chain
  const facilitator = await startFacilitator({ ...options, rpcUrl }).catch(async (error: unknown) => {
    await chain.stop()
    throw error
  })
  const fund = createMinter(client)
  return {
    rpcUrl,
    facilitatorUrl: facilitator.url,
    callFacilitator: facilitator.fetch,
    client,
    halt,
    resume,
    fund,
    createFundedWallet: async (dollars) => {
      const wallet = createWallet()
      if (dollars > 0) await fund(wallet.address, dollars)
      return wallet
    },
    readBalance: (address) =>
      client.readContract({ address: dollarAddress, abi: dollarAbi, functionName: 'balanceOf', args: [address] }),
    stop: async () => {
      await facilitator.stop()
      await chain.stop()
    },
  }
}
