/** The payers that the operator does not sell to: from the settings, or from a file that is read again when it changes. */

import { readFileSync, watchFile } from 'node:fs'
import { addressesIn } from '../../shared/wallet.ts'
import type { Address } from '../domain/purchase/payment.ts'
import type { Logger } from '../ports.ts'

const READ_EVERY_MS = 1000

/**
 * Whether a payer is denied. If the file cannot be read any more, or has something else, nothing changes and the operator is
 * alerted.
 */
export function deniedPayers(
  { addresses, path }: { readonly addresses: ReadonlySet<Address>; readonly path: string | undefined },
  logger: Logger,
): (payer: Address) => boolean {
  let denied = addresses
  if (path !== undefined) {
    const read = () => {
      const listed = readList(path)
      if (typeof listed === 'string') logger.alert('deny-payers', { path, reason: listed })
      else {
        denied = listed
        logger.note('deny-payers', { path, payers: listed.size })
      }
    }
    watchFile(path, { interval: READ_EVERY_MS, persistent: false }, read)
  }
  return (payer) => denied.has(payer)
}

/** The payers that a file lists, or why it cannot be used. */
function readList(path: string): ReadonlySet<Address> | string {
  try {
    const listed = addressesIn(readFileSync(path, 'utf8'))
    return typeof listed === 'number' ? `line ${listed} has something else than an address` : listed
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'it cannot be read'
  }
}
