/** Wallets whose signature is a plain hash of the wallet and the text, which is cheap and cannot match by accident. */

import { createHash } from 'node:crypto'
import type { SignatureCheck } from '../../../server/domain/purchase/facilitator-errors.ts'
import type { Address, Hash, Payment } from '../../../server/domain/purchase/payment.ts'
import type { Wallets } from '../../../server/ports.ts'

const hashText = (text: string): Hash => `0x${createHash('sha256').update(text).digest('hex')}`

/** The signature of `wallet` for `message`. */
export const computeSignature = (wallet: Address, message: string): Hash => hashText(`${wallet}\n${message}`)

/** A payment signature that is not its payer's. */
export const FORGED = `0x${'00'.repeat(65)}` as const

/** Signatures that cannot be checked now, because the wallet's contract cannot be queried. */
export const UNCHECKED = { busy: `0x${'b0'.repeat(65)}`, silent: `0x${'51'.repeat(65)}` } as const

export const fakeWallets: Wallets = {
  async findSigner(signers, messages, signature) {
    for (const by of signers) {
      const message = messages.find((candidate) => computeSignature(by, candidate) === signature)
      if (message !== undefined) return { by, digest: hashText(message) }
    }
    return findUncheckedReason(signature) ?? 'not-signed'
  },
  checkPaymentSignature: checkPayment,
  checkTokenSignature: checkPayment,
}

async function checkPayment({ signature }: Payment): Promise<SignatureCheck> {
  return findUncheckedReason(signature) ?? (signature === FORGED ? 'not-signed' : 'signed')
}

function findUncheckedReason(signature: string): 'busy' | 'silent' | undefined {
  if (signature === UNCHECKED.busy) return 'busy'
  return signature === UNCHECKED.silent ? 'silent' : undefined
}
