import type { EngineTest } from '../../support/engine.ts'
import { agentsContract } from './agents.contract.ts'
import { areasContract } from './areas.contract.ts'
import { blocksContract } from './blocks.contract.ts'
import { checkpointContract } from './checkpoint.contract.ts'
import { deedsContract } from './deeds.contract.ts'
import { ledgerReaderContract } from './ledger-reader.contract.ts'
import { ledgerContract } from './ledger.contract.ts'
import { logContract } from './log.contract.ts'
import { moderationContract } from './moderation.contract.ts'
import { operatorContract } from './operator.contract.ts'
import { paintersContract } from './painters.contract.ts'

/** What every store promises, on an empty wall and on one with a single open block. */
export function storeContract(name: string, onEmpty: EngineTest, onLast: EngineTest): void {
  ledgerContract(name, onEmpty, onLast)
  areasContract(name, onEmpty, onLast)
  ledgerReaderContract(name, onEmpty, onLast)
  deedsContract(name, onEmpty, onLast)
  blocksContract(name, onEmpty)
  checkpointContract(name, onEmpty)
  agentsContract(name, onEmpty)
  logContract(name, onEmpty)
  moderationContract(name, onEmpty)
  operatorContract(name, onEmpty)
  paintersContract(name, onEmpty, onLast)
}
