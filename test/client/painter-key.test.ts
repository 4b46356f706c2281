import { expect, test } from 'bun:test'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keptPainter, painterIn } from '../../server/client/painter-key.ts'

test('a painter is made once, however many ask for it first, and is kept', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pixel-wall-painter-'))
  try {
    expect(await keptPainter(folder)).toBeUndefined()
    const made = await Promise.all(Array.from({ length: 8 }, () => painterIn(folder)))
    const addresses = new Set<string | undefined>(made.map(({ address }) => address))
    expect([...addresses]).toEqual([(await keptPainter(folder))?.address])
    expect(await readdir(folder)).toEqual(['painter.key'])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
