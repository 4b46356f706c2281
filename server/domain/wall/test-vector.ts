/**
 * A text with its signature, to check a signer by: a key makes the same EIP-191 signature of one text everywhere. The
 * key is the smallest there is and known to all.
 */

import { digestOf, editMessage } from '../../../shared/signing.ts'

// The message is changed, the link cleared, the pixels kept: one field of each kind.
const message = editMessage('wall.example', '80,45', 1_800_000_000_000, { message: 'hello again', link: null })

type Hex = `0x${string}`

export const TEST_VECTOR: {
  readonly privateKey: Hex
  readonly address: Hex
  readonly message: string
  readonly digest: Hex
  readonly signature: Hex
} = {
  privateKey: `0x${'1'.padStart(64, '0')}`,
  address: '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf',
  message,
  digest: digestOf(message),
  signature:
    '0xa9cf231da12b59a5558cf3c8039dc97feaed55216a226995842b3ffb60e6d5d32a09f268a56193780916369eb078b264224b305e20c6b911fb8a43edcf0b2aa41c',
}
