/** The service: reads its settings, opens its store, and serves the wall until it is asked to end. */

import { CannotOpen } from '../db/cannot-open.ts'
import { openStoreAhead } from '../db/open.ts'
import type { DamagedRow } from '../db/row-sums.ts'
import { terminalText } from '../shared/terminal.ts'
import { systemClock } from './adapters/clock.ts'
import { UnusableKey } from './adapters/coinbase.ts'
import { lineJournal } from './adapters/journal.ts'
import { ConfigError, EXIT_CONFIG, readConfig } from './config.ts'

const journal = lineJournal((line) => console.error(line), systemClock)

try {
  // From the start: whoever starts a process may ask it to end before it is open.
  const asked = signalled()
  const config = readConfig(Bun.env)
  const ahead = await openStoreAhead(config.database, config.network, { onBroken: exitNow, onDamaged })
  // All the rest is loaded while the store is looked through.
  const { serve } = await import('./serve.ts')
  await serve({ config, ahead, journal, asked })
} catch (error) {
  if (!(error instanceof ConfigError || error instanceof CannotOpen || error instanceof UnusableKey)) throw error
  console.error(terminalText(error.message))
  process.exit(error instanceof CannotOpen ? 1 : EXIT_CONFIG)
}

/** Resolves when the process is asked to end. */
function signalled(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve())
    process.once('SIGINT', () => resolve())
  })
}

/** A row that does not fit its sum is left out of everything; only a backup has it whole. */
function onDamaged({ table, row }: DamagedRow): void {
  journal.alarm('row-damaged', { table, row, what: 'the row is not what was written; restore a backup' })
}

/** Ends at once: after a disk that failed at commit, only a restart can tell what was kept. */
function exitNow(): never {
  journal.alarm('disk-failed', {
    what: 'the disk failed at commit; the process ends so that a restart finds the truth',
  })
  process.exit(70)
}
