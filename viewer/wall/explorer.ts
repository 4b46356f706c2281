/** Where each network's transactions can be looked at. */

const explorers: Readonly<Record<string, string>> = {
  'eip155:8453': 'https://basescan.org',
  'eip155:84532': 'https://sepolia.basescan.org',
}

/** The address of a transaction's page; `undefined` for a network without a public explorer. */
export function transactionPage(network: string, hash: string): string | undefined {
  const explorer = explorers[network]
  return explorer === undefined ? undefined : `${explorer}/tx/${hash}`
}
