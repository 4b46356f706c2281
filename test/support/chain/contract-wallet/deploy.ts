/** Contract wallets on the embedded chain; the owner's key signs for each. */

import { encodeFunctionData, getAddress, parseAbi, parseGwei, type Hex, type SignedAuthorizationList } from 'viem'
import { serializeErc6492Signature } from 'viem/utils'
import type { Address } from '../../../../server/domain/purchase/payment.ts'
import { localChainId, type ChainClient } from '../../../../server/local/chain.ts'
import { createWallet, type Wallet } from '../../../../server/local/wallets.ts'
import { toLowerAddress } from '../signing.ts'
import artefact from './artefact.json' with { type: 'json' }

/** The address of the factory. */
export const factoryAddress = getAddress('0x00000000000000000000000000000000000fac70')

// The address of the code that accounts delegate to.
const accountCode = getAddress('0x00000000000000000000000000000000000acc70')

const factoryAbi = parseAbi(['function deploy(address owner) returns (address)'])

/** The call to the factory that deploys the wallet of an owner. */
export const encodeDeployCall = (owner: Wallet) =>
  encodeFunctionData({ abi: factoryAbi, functionName: 'deploy', args: [owner.address] })

/** Wraps an owner's signature for a contract wallet that is not deployed yet (EIP-6492). */
export const wrapForOwner = (
  signature: Hex,
  owner: Wallet,
  data = encodeDeployCall(owner),
  factory: Address = factoryAddress,
) => serializeErc6492Signature({ address: factory, data, signature })

export type ContractWallets = {
  /** The address of the contract wallet of `owner`, deployed or not. */
  readWalletAddress(owner: Wallet): Promise<Address>
  /** Deploys the wallet of an owner. */
  deploy(owner: Wallet): Promise<Address>
  /** Delegates an account to code that accepts signatures by the account's own key (EIP-7702). */
  delegateAccount(account: Wallet): Promise<void>
  /** Puts `bytecode` at a new address, and returns the address. */
  createAccountWithCode(bytecode: Hex): Promise<Address>
}

/** Puts the factory and the code for accounts on the chain. */
export async function installFactory(client: ChainClient): Promise<ContractWallets> {
  await client.setCode({ address: factoryAddress, bytecode: `0x${artefact.factory}` })
  const readAddress = async (owner: Wallet) => {
    const call = { address: factoryAddress, abi: factoryAbi, functionName: 'deploy', args: [owner.address] } as const
    return toLowerAddress((await client.simulateContract(call)).result)
  }
  await client.setCode({ address: accountCode, bytecode: `0x${artefact.account}` })
  /** Sends a transaction from a new account. */
  const sendTransaction = async (call: { to: Address; data?: Hex; authorizationList?: SignedAuthorizationList }) => {
    const sender = createWallet()
    await client.setBalance({ address: sender.address, value: 10n ** 18n })
    const fees = { gas: 1_000_000n, maxFeePerGas: parseGwei('100'), maxPriorityFeePerGas: parseGwei('1') }
    const serializedTransaction = await sender.signTransaction({ chainId: localChainId, nonce: 0, ...fees, ...call })
    const hash = await client.sendRawTransaction({ serializedTransaction })
    await client.waitForTransactionReceipt({ hash })
  }
  return {
    readWalletAddress: readAddress,
    async deploy(owner) {
      // The address comes from a simulated deployment, which would fail after the real one, so it is read first.
      const address = await readAddress(owner)
      await sendTransaction({ to: factoryAddress, data: encodeDeployCall(owner) })
      return address
    },
    async delegateAccount(account) {
      const consent = { address: accountCode, chainId: localChainId, nonce: 0 }
      await sendTransaction({ to: account.address, authorizationList: [await account.signAuthorization(consent)] })
    },
    async createAccountWithCode(bytecode) {
      const address = toLowerAddress(createWallet().address)
      await client.setCode({ address, bytecode })
      return address
    },
  }
}
