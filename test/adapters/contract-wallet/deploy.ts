/** Contract wallets on the embedded chain, each with the key of its owner. */

import { encodeFunctionData, getAddress, parseAbi, type Hex } from 'viem'
import { serializeErc6492Signature } from 'viem/utils'
import type { Address } from '../../../server/domain/payment.ts'
import type { ChainClient } from '../../../server/local/chain.ts'
import { newWallet, type Wallet } from '../../../server/local/wallets.ts'
import artefact from './artefact.json' with { type: 'json' }

/** Where the factory is. */
export const factoryAddress = getAddress('0x00000000000000000000000000000000000fac70')

const factoryAbi = parseAbi(['function deploy(address owner) returns (address)'])

const lower = (address: string) => address.toLowerCase() as Address

/** The call to the factory that deploys the wallet of an owner. */
export const deployCall = (owner: Wallet) =>
  encodeFunctionData({ abi: factoryAbi, functionName: 'deploy', args: [owner.address] })

/** A signature of a wallet that is not deployed yet (EIP-6492). */
export const wrapped = (signature: Hex, owner: Wallet, data = deployCall(owner)) =>
  serializeErc6492Signature({ address: factoryAddress, data, signature })

export type ContractWallets = {
  /** Where the contract wallet of `owner` is, or will be. */
  addressOf(owner: Wallet): Promise<Address>
  /** Deploys the wallet of an owner. */
  deploy(owner: Wallet): Promise<Address>
  /** A wallet address whose code is `bytecode`. */
  running(bytecode: Hex): Promise<Address>
}

/** Puts the factory on the chain. */
export async function placeFactory(client: ChainClient): Promise<ContractWallets> {
  await client.setCode({ address: factoryAddress, bytecode: `0x${artefact.deployedBytecode}` })
  const addressOf = async (owner: Wallet) => {
    const call = { address: factoryAddress, abi: factoryAbi, functionName: 'deploy', args: [owner.address] } as const
    return lower((await client.simulateContract(call)).result)
  }
  return {
    addressOf,
    async deploy(owner) {
      const address = await addressOf(owner)
      const from = lower(newWallet().address)
      await client.setBalance({ address: from, value: 10n ** 18n })
      const transaction = { from, to: factoryAddress, data: deployCall(owner), gas: 1_000_000n }
      const hash = await client.sendUnsignedTransaction(transaction)
      await client.waitForTransactionReceipt({ hash })
      return address
    },
    async running(bytecode) {
      const address = lower(newWallet().address)
      await client.setCode({ address, bytecode })
      return address
    },
  }
}
