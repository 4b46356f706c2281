/** The service: reads its settings, opens its store, and serves the wall until it is asked to end. */

import { CannotOpen, CannotOpenYet } from '../db/cannot-open.ts'
import { openStoreUnchecked } from '../db/open.ts'
import type { DamagedRow } from '../db/row-checksums.ts'
import { escapeText } from '../shared/terminal.ts'
import { systemClock } from './adapters/clock.ts'
import { UnusableKey } from './adapters/facilitator/coinbase.ts'
import { createLineLogger } from './adapters/logger.ts'
import { createConfigError, ConfigError, EXIT_CONFIG, readConfig, type Config } from './config.ts'
import { findPathProblems } from './preflight.ts'
import { TIMES, type Times } from './times.ts'

const STILL_CLOSED = 'the database does not accept this wall yet; until it does, the wall waits and serves nobody'

const logger = createLineLogger((line) => console.error(line), systemClock)

if (import.meta.main) await main()

/** Runs the service until it ends the process. `times` are shorter in tests. */
export async function main(times: Times = TIMES): Promise<void> {
  try {
    // A process may be asked to end before its store is open.
    const { asked, askedAgain } = waitForSignals()
    const config = readConfig(Bun.env)
    const troubles = findPathProblems(config)
    if (troubles.length > 0) throw createConfigError(troubles)
    const opening = openStoreUnchecked(config.database, config.network, {
      onBroken: exitNow,
      onDamaged,
      onUnchecked,
      answerMs: times.databaseAnswerTimeoutMs,
    })
    const reportOpened = alertIfSlow(config, times)
    const ahead = await Promise.race([opening, asked])
    if (ahead === undefined) exitBeforeOpening()
    reportOpened()
    // Other modules load while the store is checked.
    const { serve } = await import('./serve.ts')
    await serve({ config, times, ahead, logger, asked, askedAgain })
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof CannotOpen || error instanceof UnusableKey)) throw error
    console.error(escapeText(error.message))
    process.exit(error instanceof CannotOpenYet ? 1 : EXIT_CONFIG)
  }
}

/**
 * Alerts the operator if the store does not open soon. The caller must call the returned function when the store has
 * opened.
 */
function alertIfSlow({ database }: Config, { storeOpensWithinMs }: Times): () => void {
  const named = { dependency: 'store-write', name: database.kind }
  const began = systemClock.elapsed()
  let isTold = false
  const slow = setTimeout(() => {
    isTold = true
    logger.alert('outage', { ...named, reason: STILL_CLOSED })
  }, storeOpensWithinMs)
  return () => {
    clearTimeout(slow)
    if (isTold) logger.note('outage-over', { ...named, seconds: Math.round((systemClock.elapsed() - began) / 1000) })
  }
}

/** Ends the process before the store is open, when there is no request to finish. */
function exitBeforeOpening(): never {
  logger.note('stopped')
  process.exit(0)
}

/** Signals that ask the process to end. A second signal ends the wait during draining; requests are still finished. */
function waitForSignals(): { readonly asked: Promise<void>; readonly askedAgain: AbortSignal } {
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  const again = new AbortController()
  let times = 0
  const onSignal = () => {
    times += 1
    resolve()
    if (times > 1) again.abort()
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  return { asked, askedAgain: again.signal }
}

/** Notes once that PostgreSQL does not check its pages, because nothing else would reveal damage. */
function onUnchecked(): void {
  logger.note('pages-unchecked', {
    what: 'the database server does not check its pages for damage; enable data_checksums',
  })
}

/**
 * Alerts about a row that does not match its checksum. The row is left out of all reads; only a backup has it intact.
 */
function onDamaged({ table, row }: DamagedRow): void {
  logger.alert('row-damaged', { table, row, what: 'the row is damaged; restore a backup' })
}

/** Ends the process immediately: after the disk failed during a commit, only a restart can show what was saved. */
function exitNow(): never {
  logger.alert('disk-failed', {
    what: 'the disk failed during a commit; the process exits, because only a restart can tell what was saved',
  })
  process.exit(70)
}
