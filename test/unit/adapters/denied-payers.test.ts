import { expect, test } from 'bun:test'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createDeniedPayers } from '../../../server/adapters/denied-payers.ts'
import { readConfig } from '../../../server/config.ts'
import { createFakeLogger } from '../../support/fakes/logger.ts'
import { createWalletAddress } from '../../support/samples.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'

const REQUIRED = {
  BASE_URL: 'https://wall.example',
  PAY_TO: createWalletAddress(9),
  FACILITATOR_URL: 'https://facilitator.example',
}

const folder = createScratchFolder()

test('the file of denied payers is read again when it changes, and the last valid list still applies if the file is invalid or missing', async () => {
  const path = join(folder, 'denied.txt')
  const logger = createFakeLogger()
  await writeFile(path, `# a court order\n${createWalletAddress(1)}, ${createWalletAddress(2)} # both\n\n`)
  const payers = createDeniedPayers(readConfig({ ...REQUIRED, DENY_PAYERS: path }).denied, logger)
  const listDenied = () => [1, 2, 3].filter((nth) => payers.has(createWalletAddress(nth)))
  const rewriteFile = async (text: string) => {
    await writeFile(path, text)
    await payers.reload()
    return listDenied()
  }
  expect(listDenied()).toEqual([1, 2])
  expect(await rewriteFile(`${createWalletAddress(3)}\n`)).toEqual([3])
  const wrong = `${createWalletAddress(1)}\n${createWalletAddress(2)}\n0x12\n`
  expect([await rewriteFile(wrong), await rewriteFile(wrong)]).toEqual([[3], [3]])
  await rm(path)
  await payers.reload()
  expect(listDenied()).toEqual([3])
  expect(logger.alerts.map(({ facts }) => facts['reason'])).toEqual([
    'line 3 contains something other than an address',
    'ENOENT',
  ])
  expect(await rewriteFile('')).toEqual([])
})
