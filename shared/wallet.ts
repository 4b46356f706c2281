/** How wallets are shown to others. */

import { getAddress } from 'viem/utils'

/** First six characters, an ellipsis and the last four of the checksummed address: `0x1234…abcd`. */
export function truncatedWallet(address: string): string {
  const full = getAddress(address)
  return `${full.slice(0, 6)}…${full.slice(-4)}`
}
