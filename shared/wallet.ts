/** How wallets are shown to others. */

import { getAddress } from 'viem/utils'

/** The checksummed address, which only its owner is shown. */
export const fullWallet = (address: string): string => getAddress(address)

/** First six characters, an ellipsis and the last four of the checksummed address: `0x1234…abcd`. */
export function truncatedWallet(address: string): string {
  const full = fullWallet(address)
  return `${full.slice(0, 6)}…${full.slice(-4)}`
}
