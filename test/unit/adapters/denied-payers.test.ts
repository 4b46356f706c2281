import { expect, test } from 'bun:test'
import { unwatchFile } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deniedPayers } from '../../../server/adapters/denied-payers.ts'
import { readConfig } from '../../../server/config.ts'
import { fakeLogger } from '../../support/fakes/logger.ts'
import { wallet } from '../../support/samples.ts'
import { scratchFolder } from '../../support/scratch-folder.ts'
import { waitUntil } from '../../support/wait.ts'

const REQUIRED = { BASE_URL: 'https://wall.example', PAY_TO: wallet(9), FACILITATOR_URL: 'https://facilitator.example' }

const folder = scratchFolder()

test('a file of denied payers is read again when it changes, and one that is wrong or gone changes nothing', async () => {
  const path = join(folder, 'denied.txt')
  await writeFile(path, `# a court order\n${wallet(1)}, ${wallet(2)} # both\n\n`)
  const logger = fakeLogger()
  const isDenied = deniedPayers(readConfig({ ...REQUIRED, DENY_PAYERS: path }).denied, logger)
  try {
    const denied = () => [1, 2, 3].filter((nth) => isDenied(wallet(nth)))
    expect(denied()).toEqual([1, 2])
    await writeFile(path, `${wallet(3)}\n`)
    await waitUntil(() => Bun.deepEquals(denied(), [3]))
    await writeFile(path, `${wallet(1)}\n${wallet(2)}\n0x12\n`)
    const reasons = () => logger.alerts.map(({ facts }) => facts?.['reason'])
    await waitUntil(() => reasons().at(-1) === 'line 3 has something else than an address')
    await rm(path)
    await waitUntil(() => reasons().at(-1) === 'ENOENT')
    expect(denied()).toEqual([3])
    await writeFile(path, '')
    await waitUntil(() => denied().length === 0)
  } finally {
    unwatchFile(path)
  }
})
