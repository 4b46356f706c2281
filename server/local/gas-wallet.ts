import { toFacilitatorEvmSigner } from '@x402/evm'
import type { FacilitatorEvmSigner } from '@x402/evm'
import { concat, encodeFunctionData, parseEther, parseGwei } from 'viem'
import type { Address, Hex } from 'viem'
import { localChainId } from './chain.ts'
import type { ChainClient } from './chain.ts'
import { inTurn, newWallet } from './wallets.ts'

/** The account a facilitator sends from, and what the x402 packages sign through. */
export type GasWallet = { address: Address; signer: FacilitatorEvmSigner }

/** Far above what full blocks can drive the local base fee to within any run. */
const feeCeiling = { maxFeePerGas: parseGwei('10000'), maxPriorityFeePerGas: parseGwei('1') }

/** Makes a fresh account, gives it ether, and lets it send any number of transfers at once. */
export async function openGasWallet(client: ChainClient, confirmationTimeoutMs: number): Promise<GasWallet> {
  const account = newWallet()
  await client.setBalance({ address: account.address, value: parseEther('1000000') })
  const senderInTurn = inTurn<Hex>(() => client.getTransactionCount({ address: account.address, blockTag: 'pending' }))

  const send = async (call: { to: Address; data: Hex; gas?: bigint | undefined }) => {
    // The estimate runs the call, so what would revert fails here and is never broadcast.
    const gas = call.gas ?? (await client.estimateGas({ account: account.address, to: call.to, data: call.data }))
    return senderInTurn(async (nonce) => {
      const transaction = { type: 'eip1559', chainId: localChainId, nonce, gas, ...feeCeiling } as const
      const serializedTransaction = await account.signTransaction({ ...transaction, to: call.to, data: call.data })
      return client.sendRawTransaction({ serializedTransaction })
    })
  }

  const signer = toFacilitatorEvmSigner(
    {
      address: account.address,
      readContract: (call) => client.readContract({ ...call, args: call.args ?? [] }),
      getCode: (of) => client.getCode(of),
      // The type asks for it, but the scheme checks signatures by their digest, with `getCode` and `readContract`.
      verifyTypedData: () => Promise.reject(new Error('typed data is verified by its digest')),
      waitForTransactionReceipt: (wait) => client.waitForTransactionReceipt(wait),
      sendTransaction: send,
      writeContract: ({ address, abi, functionName, args, gas, dataSuffix }) => {
        const data = encodeFunctionData({ abi, functionName, args })
        return send({ to: address, data: dataSuffix ? concat([data, dataSuffix]) : data, gas })
      },
    },
    { confirmationTimeoutMs },
  )
  return { address: account.address, signer }
}
