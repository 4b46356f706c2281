/**
 * A signed edit and a signed registration to check a signer with; a test proves that the key signs the texts so. A key
 * makes the same EIP-191 signature of one text everywhere, and this one is the smallest there is, known to all.
 */

import { editMessage, registerMessage } from '../../shared/signing.ts'

const HOST = 'wall.example'
const KEY = `0x${'1'.padStart(64, '0')}`
const WALLET = '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf'
const COORD = '80,45'
const TS = 1_800_000_000_000

// The message is changed, the link cleared, the pixels kept: one field of each kind.
const CHANGES = { message: 'hello again', link: null }

const NAMES = { name: 'Ada' }

/** Host, key, text and the body that carries the signature. */
export const WORKED_EXAMPLE = {
  host: HOST,
  coord: COORD,
  key: KEY,
  wallet: WALLET,
  message: editMessage(HOST, COORD, TS, CHANGES),
  body: {
    ts: TS,
    signature:
      '0xa9cf231da12b59a5558cf3c8039dc97feaed55216a226995842b3ffb60e6d5d32a09f268a56193780916369eb078b264224b305e20c6b911fb8a43edcf0b2aa41c',
    ...CHANGES,
  },
} as const

/** The same for `PUT /api/agents/me`. */
export const WORKED_REGISTRATION = {
  message: registerMessage(HOST, WALLET, TS, NAMES),
  body: {
    wallet: WALLET,
    ts: TS,
    signature:
      '0xcd5589796a4fbcb779d47d94f208a3fe085d621dfa63f3e9fc523267447eeaf74ec8d12db9e3ab219249d2f7f2b64e6b931c9e757442fc4b0c554b2517a6469b1c',
    ...NAMES,
  },
} as const
