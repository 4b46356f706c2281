/** The owners of the seeded wall, who sign repaints faster than a wall can check them. */

import native from 'secp256k1/bindings.js'
import { computeMessageDigest, formatEditMessage } from '../../shared/signing.ts'
import { CLAIM_ORDER, formatCoord } from '../../shared/wall.ts'
import { encodeRequest } from '../measure/load.ts'
import { chooseBuyer, toPrivateKey } from '../servers/seed.ts'
import { countAgents } from '../servers/servers.ts'

/**
 * Returns a function that signs repaints of a seeded wall's blocks in turn, each with a different message. The blocks
 * have `agents` owners.
 */
export function createRepaintSigner(sold: number, agents = countAgents(sold)): () => Uint8Array {
  const coords = CLAIM_ORDER.slice(0, sold).map(formatCoord)
  let made = 0
  return () => {
    const sale = 1 + (made++ % sold)
    const coord = coords[sale - 1] ?? ''
    const fields = { message: `repainted ${made}` }
    const ts = Date.now()
    const digest = Uint8Array.fromHex(computeMessageDigest(formatEditMessage('127.0.0.1', coord, ts, fields)).slice(2))
    const secret = Uint8Array.fromHex(toPrivateKey(chooseBuyer(sale, agents)).slice(2))
    const { signature, recid } = native.ecdsaSign(digest, secret)
    const body = JSON.stringify({ ts, signature: `0x${signature.toHex()}${(27 + recid).toString(16)}`, ...fields })
    return encodeRequest('PUT', `/blocks/${coord}`, { 'Content-Type': 'application/json' }, body)
  }
}
