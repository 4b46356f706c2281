import { expect, test } from 'bun:test'
import { recoverMessageAddress } from 'viem'
import { WORKED_EXAMPLE, WORKED_REGISTRATION } from '../../../server/discovery/worked-example.ts'
import type { Hash } from '../../../server/domain/purchase/payment.ts'
import { TEST_VECTOR } from '../../../server/domain/wall/test-vector.ts'
import { editMessage } from '../../../shared/signing.ts'

test('the worked edit is that of the test vector', () => {
  const { host, coord, body } = WORKED_EXAMPLE
  expect(editMessage(host, coord, body.ts, { message: body.message, link: body.link })).toBe(TEST_VECTOR.message)
})

test('the worked bodies are signed by the wallet they name', async () => {
  const signed = [
    { message: TEST_VECTOR.message, signature: WORKED_EXAMPLE.body.signature },
    { message: WORKED_REGISTRATION.message, signature: WORKED_REGISTRATION.body.signature },
  ]
  for (const { message, signature } of signed)
    expect(await recoverMessageAddress({ message, signature: signature as Hash })).toBe(TEST_VECTOR.address)
})
