import { expect, test } from 'bun:test'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSqlite, openWall } from '../../../db/sqlite/open.ts'
import { StoreUnavailable } from '../../../server/domain/failure.ts'
import { openBlankWall } from '../../support/blank-wall.ts'
import { catchFailure, testOverStore } from '../../support/engine.ts'
import { openNearlySoldWall } from '../../support/nearly-sold.ts'
import { parseBlockOrThrow, TERMS } from '../../support/samples.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'
import { testStore } from '../ports/store.contract.ts'

// Goal: SQLite keeps every promise of the ports. Method: the ports' own suites.

const folder = createScratchFolder()

const template = join(folder, 'template.sqlite')
openWall(template, TERMS.network).close()

let files = 0
/** Copies a wall that was made in advance, because making one takes longer than most tests. */
function createFile(): string {
  const path = join(folder, `${files++}.sqlite`)
  copyFileSync(template, path)
  return path
}

test('checking whether a block is open fails on a closed store', async () => {
  const { ledger, close } = await openBlankWall()
  expect(await ledger.checkSpace(parseBlockOrThrow('3,4'))).toBe('open')
  close()
  expect(await catchFailure(ledger.checkSpace(parseBlockOrThrow('3,4')))).toBeInstanceOf(StoreUnavailable)
})

const testOnEmpty = testOverStore(() => openSqlite(createFile(), TERMS.network))
// The last block is tested in memory, where a nearly sold-out wall opens immediately.
const testOnLast = testOverStore(() => openNearlySoldWall(1))
testStore('SQLite', testOnEmpty, testOnLast)
