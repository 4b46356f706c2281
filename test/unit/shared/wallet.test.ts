import { expect, test } from 'bun:test'
import { truncateWallet } from '../../../shared/wallet.ts'

const CHECKSUMMED = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

test('a wallet is shown as both ends of its checksummed address, whatever the letter case of the input', () => {
  const shown = [CHECKSUMMED, CHECKSUMMED.toLowerCase()].map(truncateWallet)
  expect(shown).toEqual(['0x8335…2913', '0x8335…2913'])
  expect(truncateWallet('0xd8da6bf26964af9d7eed9e03e53415d37aa96045')).toBe('0xd8dA…6045')
})

test('text that is not an address is rejected', () => {
  expect(() => truncateWallet('0x1234')).toThrow()
})
