import { expect, test } from 'bun:test'
import { makeCertificates, openFront } from '../../support/chain/front.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'

const folder = createScratchFolder()

test('while a proxy changes its certificate, each client sees the old one or the new one, and no other failure', async () => {
  const ca = await Bun.file(await makeCertificates(folder)).text()
  const front = await openFront(async () => new Response(), folder)
  const seen = new Set<string>()
  const addResult = async () => {
    const result = await fetch(front.url, { tls: { ca } }).then(
      ({ status }) => String(status),
      (cause: unknown) => (cause instanceof Error && 'code' in cause ? String(cause.code) : 'no code'),
    )
    seen.add(result)
  }
  for (let change = 0; change < 50; change++) {
    const clients = Array.from({ length: 4 }, addResult)
    await Promise.race(clients)
    if (change % 2 === 0) front.forgeCertificate()
    else await front.endFailures()
    await Promise.all(clients)
  }
  expect([...seen].toSorted()).toEqual(['200', 'DEPTH_ZERO_SELF_SIGNED_CERT'])
  await front.stop()
})
