/** The payers that the operator denies: from the settings, or from a file that is read again while the wall runs. */

import { readFile } from 'node:fs/promises'
import { parseAddresses } from '../../shared/wallet.ts'
import type { Address } from '../domain/purchase/payment.ts'
import type { Logger } from '../ports.ts'

export type DeniedPayers = {
  has(payer: Address): boolean
  /**
   * Reads the file again, if there is one. If it cannot be read or is invalid, nothing changes and the operator gets
   * one alert.
   */
  reload(): Promise<void>
}

/** Creates the list of denied payers from the settings at start. */
export function createDeniedPayers(
  { addresses, path }: { readonly addresses: ReadonlySet<Address>; readonly path: string | undefined },
  logger: Logger,
): DeniedPayers {
  let denied = addresses
  let last: string | undefined
  return {
    has: (payer) => denied.has(payer),
    async reload() {
      if (path === undefined) return
      const read = await readList(path)
      if (read.said === last) return
      last = read.said
      if ('trouble' in read) logger.alert('deny-payers', { path, reason: read.trouble })
      else logger.note('deny-payers', { path, payers: read.addresses.size })
      if ('addresses' in read) denied = read.addresses
    },
  }
}

/**
 * The addresses in a file, or why it cannot be used. `said` is the content or the error; the caller compares it to
 * detect changes.
 */
async function readList(path: string) {
  try {
    const said = await readFile(path, 'utf8')
    const addresses = parseAddresses(said)
    return typeof addresses === 'number'
      ? { said, trouble: `line ${addresses} contains something other than an address` }
      : { said, addresses }
  } catch (error) {
    const trouble = error instanceof Error && 'code' in error ? String(error.code) : 'it cannot be read'
    return { said: trouble, trouble }
  }
}
