import { expect, test } from 'bun:test'
import { hashMessage, verifyMessage } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { TEST_VECTOR } from '../../../server/domain/wall/signed-fields.ts'

test('the published test vector has the address, digest and signature that a wallet with its key computes', async () => {
  const { privateKey, address, message, digest, signature } = TEST_VECTOR
  const account = privateKeyToAccount(privateKey)
  expect(account.address).toBe(address)
  expect(await account.signMessage({ message })).toBe(signature)
  expect(hashMessage(message)).toBe(digest)
  expect(await verifyMessage({ address: account.address, message, signature })).toBe(true)
})
