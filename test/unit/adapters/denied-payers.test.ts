import { expect, test } from 'bun:test'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createDeniedPayers } from '../../../server/adapters/denied-payers.ts'
import { readConfig } from '../../../server/config.ts'
import { fakeLogger } from '../../support/fakes/logger.ts'
import { wallet } from '../../support/samples.ts'
import { scratchFolder } from '../../support/scratch-folder.ts'

const REQUIRED = { BASE_URL: 'https://wall.example', PAY_TO: wallet(9), FACILITATOR_URL: 'https://facilitator.example' }

const folder = scratchFolder()

test('a file of denied payers is read again when it changes, and one that is wrong or gone changes nothing', async () => {
  const path = join(folder, 'denied.txt')
  const logger = fakeLogger()
  await writeFile(path, `# a court order\n${wallet(1)}, ${wallet(2)} # both\n\n`)
  const payers = createDeniedPayers(readConfig({ ...REQUIRED, DENY_PAYERS: path }).denied, logger)
  const denied = () => [1, 2, 3].filter((nth) => payers.has(wallet(nth)))
  const rewritten = async (text: string) => {
    await writeFile(path, text)
    await payers.reload()
    return denied()
  }
  expect(denied()).toEqual([1, 2])
  expect(await rewritten(`${wallet(3)}\n`)).toEqual([3])
  const wrong = `${wallet(1)}\n${wallet(2)}\n0x12\n`
  expect([await rewritten(wrong), await rewritten(wrong)]).toEqual([[3], [3]])
  await rm(path)
  await payers.reload()
  expect(denied()).toEqual([3])
  expect(logger.alerts.map(({ facts }) => facts['reason'])).toEqual([
    'line 3 has something else than an address',
    'ENOENT',
  ])
  expect(await rewritten('')).toEqual([])
})
