/** Signed bodies to check a signer with, as the guide and the OpenAPI document show them. Tests prove the signatures. */

import { registerMessage } from '../../shared/signing.ts'
import { TEST_VECTOR } from '../domain/wall/test-vector.ts'

const HOST = 'wall.example'
const TS = 1_800_000_000_000
const NAMES = { name: 'Ada' }

/** The edit of the test vector: host, block, and the body that carries the signature. */
export const WORKED_EXAMPLE = {
  host: HOST,
  coord: '80,45',
  body: { ts: TS, signature: TEST_VECTOR.signature, message: 'hello again', link: null },
} as const

/** A registration by the same key. */
export const WORKED_REGISTRATION = {
  message: registerMessage(HOST, TEST_VECTOR.address, TS, NAMES),
  body: {
    wallet: TEST_VECTOR.address,
    ts: TS,
    signature:
      '0xcd5589796a4fbcb779d47d94f208a3fe085d621dfa63f3e9fc523267447eeaf74ec8d12db9e3ab219249d2f7f2b64e6b931c9e757442fc4b0c554b2517a6469b1c',
    ...NAMES,
  },
} as const
