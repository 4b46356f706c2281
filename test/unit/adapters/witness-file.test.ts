import { expect, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openWitness } from '../../../server/adapters/witness-file.ts'
import { createWalletAddress } from '../../support/samples.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'

const folder = createScratchFolder()

const position = {
  change: 12,
  payment: 34,
  height: 24_000_000n,
  payees: [createWalletAddress(1), createWalletAddress(2)],
}

test('a witness returns the position that was stored last, and only the owner of the file may read it', async () => {
  const path = join(folder, 'wall.witness')
  const witness = openWitness(path)
  expect(await witness.read()).toBeUndefined()
  await witness.write(position)
  await witness.write({ ...position, change: 13 })
  expect(await openWitness(path).read()).toEqual({ ...position, change: 13 })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['wall.witness'])
})

test('reading a file that is not a witness fails', async () => {
  const path = join(folder, 'odd.witness')
  for (const text of [
    '',
    '{',
    '{"change":1}',
    '{"change":-1,"payment":1,"height":"1"}',
    '{"change":1,"payment":1,"height":"1","payees":["0x"]}',
  ]) {
    await Bun.write(path, text)
    expect(openWitness(path).read()).rejects.toThrow()
  }
})

test('writing a witness into a missing folder fails', () => {
  expect(openWitness(join(folder, 'none', 'wall.witness')).write(position)).rejects.toThrow()
})

test('without a path for the witness, nothing is stored', async () => {
  const witness = openWitness(undefined)
  await witness.write(position)
  expect(await witness.read()).toBeUndefined()
})

test('the witness of an earlier version, without addresses, can be read', async () => {
  const path = join(folder, 'earlier.witness')
  await Bun.write(path, '{"change":12,"payment":34,"height":"24000000"}\n')
  expect(await openWitness(path).read()).toEqual({ ...position, payees: [] })
})
