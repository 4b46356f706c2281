import pLimit from 'p-limit'
import { encodeFunctionData, parseUnits, TransactionReceiptNotFoundError } from 'viem'
import type { Address, Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { ChainClient } from './chain.ts'
import { dollarAbi, dollarAddress, minterAddress } from './token/contracts.ts'

/** A throwaway account with its key. */
export type Wallet = PrivateKeyAccount & { privateKey: Hex }

/** Mints dollars for an address and returns once the chain has them. `dollars` may have up to six decimals. */
export type Fund = (address: Address, dollars: number) => Promise<void>

/** Makes a wallet with a fresh random key. */
export function createWallet(): Wallet {
  const privateKey = generatePrivateKey()
  return { ...privateKeyToAccount(privateKey), privateKey }
}

/**
 * Makes a function that mints dollars on a chain. Minting sends a transaction; if the chain does not mine
 * automatically, the caller must mine it.
 */
export function createMinter(client: ChainClient): Fund {
  const readNextNonce = () => client.getTransactionCount({ address: minterAddress, blockTag: 'pending' })
  const sendInTurn = createTurnQueue<Hex>(readNextNonce)
  return async (address, dollars) => {
    const data = encodeFunctionData({
      abi: dollarAbi,
      functionName: 'mint',
      args: [address, parseUnits(String(dollars), 6)],
    })
    const hash = await sendInTurn((nonce) =>
      client.sendUnsignedTransaction({ from: minterAddress, to: dollarAddress, data, nonce }),
    )
    const receipt = await waitForReceipt(client, hash)
    if (receipt.status !== 'success') throw new Error(`minting ${dollars} for ${address} failed in ${hash}`)
  }
}

const LOOK_AGAIN_MS = 10

/** Waits until a transaction is mined. viem checks again only with the next block, and there may be no next block. */
async function waitForReceipt(client: ChainClient, hash: Hex): Promise<{ readonly status: string }> {
  for (;;) {
    try {
      return await client.getTransactionReceipt({ hash })
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError)) throw error
      await Bun.sleep(LOOK_AGAIN_MS)
    }
  }
}

/**
 * Numbers the transactions of one account: `send` gets the next number, and the next caller waits until that `send` is
 * done. The number is read from the chain each time, so a transaction that failed, or was dropped from the pool, leaves
 * no gap.
 */
export function createTurnQueue<T>(
  nextNonce: () => Promise<number>,
): (send: (nonce: number) => Promise<T>) => Promise<T> {
  const one = pLimit(1)
  return (send) => one(async () => await send(await nextNonce()))
}
