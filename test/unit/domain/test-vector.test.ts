import { expect, test } from 'bun:test'
import { hashMessage, verifyMessage } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { TEST_VECTOR } from '../../../server/domain/wall/signed-fields.ts'

test('the vector is what a wallet of its key signs', async () => {
  const { privateKey, address, message, digest, signature } = TEST_VECTOR
  const account = privateKeyToAccount(privateKey)
  expect(account.address).toBe(address)
  expect(await account.signMessage({ message })).toBe(signature)
  expect(hashMessage(message)).toBe(digest)
  expect(await verifyMessage({ address: account.address, message, signature: signature })).toBe(true)
})

test('the vector’s text has a field of each kind: changed, cleared and kept', () => {
  expect(TEST_VECTOR.message.split('\n')).toEqual([
    'wall.example',
    'set_pixels v2',
    'block=80,45',
    'ts=1800000000000',
    'pixels_present=0',
    'pixels=',
    'message_present=1',
    'message=hello again',
    'link_present=1',
    'link=',
  ])
})
