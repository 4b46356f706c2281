import { expect, test } from 'bun:test'
import { readdir } from 'node:fs/promises'
import { keptPainter, painterIn } from '../../../server/client/painter-key.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'

const folder = createScratchFolder()

test('the painter key is created and stored only once, even if several calls need it at the same time', async () => {
  expect(await keptPainter(folder)).toBeUndefined()
  const made = await Promise.all(Array.from({ length: 8 }, () => painterIn(folder)))
  const addresses = new Set<string | undefined>(made.map(({ address }) => address))
  expect([...addresses]).toEqual([(await keptPainter(folder))?.address])
  expect(await readdir(folder)).toEqual(['painter.key'])
})
