import type { EngineTest } from '../../support/engine.ts'
import { testAgents } from './agents.contract.ts'
import { testAreas } from './areas.contract.ts'
import { testBlocks } from './blocks.contract.ts'
import { testCheckpoint } from './checkpoint.contract.ts'
import { testDeeds } from './deeds.contract.ts'
import { testLedgerReader } from './ledger-reader.contract.ts'
import { testLedger } from './ledger.contract.ts'
import { testLog } from './log.contract.ts'
import { testModeration } from './moderation.contract.ts'
import { testOperator } from './operator.contract.ts'
import { testPainters } from './painters.contract.ts'

/** Tests the promises of every store, on an empty wall and on one with a single open block. */
export function testStore(name: string, onEmpty: EngineTest, onLast: EngineTest): void {
  testLedger(name, onEmpty, onLast)
  testAreas(name, onEmpty, onLast)
  testLedgerReader(name, onEmpty, onLast)
  testDeeds(name, onEmpty, onLast)
  testBlocks(name, onEmpty)
  testCheckpoint(name, onEmpty)
  testAgents(name, onEmpty)
  testLog(name, onEmpty)
  testModeration(name, onEmpty)
  testOperator(name, onEmpty)
  testPainters(name, onEmpty, onLast)
}
