import { expect, test } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openReceiptArchive } from '../../../server/adapters/receipts-file.ts'
import { toHash, HEAD, createWalletAddress } from '../../support/samples.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'

// Goal: stored receipts are returned unchanged, or not at all. Method: a file, intact and damaged.

const folder = createScratchFolder()

const path = join(folder, 'wall.books')
const archive = openReceiptArchive(path, 'eip155:8453 0xa')
const kept = [
  {
    payee: createWalletAddress(1),
    from: HEAD,
    through: HEAD + 5000n,
    transfers: [
      { payer: createWalletAddress(2), nonce: toHash(1), amount: 1_000_000n, tx: toHash(2), height: HEAD + 3n },
      { payer: createWalletAddress(3), nonce: null, amount: 2n ** 255n, tx: toHash(4), height: HEAD + 4n },
    ],
  },
]

test('stored receipts are returned unchanged, and only the owner of the file may read them', async () => {
  expect(await archive.read()).toEqual([])
  await archive.write(kept)
  expect(await archive.read()).toEqual(kept)
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('a receipts file that is from a different chain, or that was changed, counts as empty', async () => {
  await archive.write(kept)
  expect(await openReceiptArchive(path, 'eip155:84532 0xa').read()).toEqual([])
  const text = readFileSync(path, 'utf8')
  for (const damaged of ['', 'nonsense', text.slice(0, -9), text.replace('1000000', '2000000')]) {
    writeFileSync(path, damaged)
    expect(await archive.read()).toEqual([])
  }
})

test('without a path for the receipts file, no receipts are stored', async () => {
  const nowhere = openReceiptArchive(undefined, 'eip155:8453 0xa')
  await nowhere.write(kept)
  expect(await nowhere.read()).toEqual([])
})
