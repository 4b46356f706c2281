/** The service: reads its settings, opens its store, and serves the wall until it is asked to end. */

import { CannotOpen } from '../db/cannot-open.ts'
import { openStoreAhead } from '../db/open.ts'
import type { DamagedRow } from '../db/row-checksums.ts'
import { terminalText } from '../shared/terminal.ts'
import { systemClock } from './adapters/clock.ts'
import { UnusableKey } from './adapters/facilitator/coinbase.ts'
import { lineLogger } from './adapters/logger.ts'
import { ConfigError, EXIT_CONFIG, readConfig, type Config } from './config.ts'

// A store opens in less than a second; a server without its standby never does.
const SLOW_MS = 5000
const STILL_CLOSED = 'the database does not let the wall in; the wall waits for it, and listens to nobody meanwhile'

const logger = lineLogger((line) => console.error(line), systemClock)

try {
  // From the start: whoever starts a process may ask it to end before it is open.
  const { asked, askedAgain } = signalled()
  const config = readConfig(Bun.env)
  const opening = openStoreAhead(config.database, config.network, { onBroken: exitNow, onDamaged })
  const isLetIn = tellOfWaiting(config)
  const ahead = await Promise.race([opening, asked])
  if (ahead === undefined) endUnopened()
  isLetIn()
  // All the rest is loaded while the store is looked through.
  const { serve } = await import('./serve.ts')
  await serve({ config, ahead, logger, asked, askedAgain })
} catch (error) {
  if (!(error instanceof ConfigError || error instanceof CannotOpen || error instanceof UnusableKey)) throw error
  console.error(terminalText(error.message))
  process.exit(error instanceof CannotOpen ? 1 : EXIT_CONFIG)
}

/** Alerts the operator where the store does not open soon, and tells when it has: what is answered is to be called then. */
function tellOfWaiting({ database }: Config): () => void {
  const named = { dependency: 'store-write', name: database.kind }
  const began = systemClock.elapsed()
  let isTold = false
  const slow = setTimeout(() => {
    isTold = true
    logger.alert('outage', { ...named, reason: STILL_CLOSED })
  }, SLOW_MS)
  return () => {
    clearTimeout(slow)
    if (isTold) logger.note('outage-over', { ...named, seconds: Math.round((systemClock.elapsed() - began) / 1000) })
  }
}

/** Ends before the store is open: nothing was begun. */
function endUnopened(): never {
  logger.note('stopped')
  process.exit(0)
}

/** When the process is asked to end; and when it is asked again, which hurries it and cuts nothing off. */
function signalled(): { readonly asked: Promise<void>; readonly askedAgain: AbortSignal } {
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  const again = new AbortController()
  let times = 0
  const hear = () => {
    times += 1
    resolve()
    if (times > 1) again.abort()
  }
  process.on('SIGTERM', hear)
  process.on('SIGINT', hear)
  return { asked, askedAgain: again.signal }
}

/** A row that does not fit its sum is left out of everything; only a backup has it whole. */
function onDamaged({ table, row }: DamagedRow): void {
  logger.alert('row-damaged', { table, row, what: 'the row is not what was written; restore a backup' })
}

/** Ends at once: after a disk that failed at commit, only a restart can tell what was kept. */
function exitNow(): never {
  logger.alert('disk-failed', {
    what: 'the disk failed at commit; the process ends so that a restart finds the truth',
  })
  process.exit(70)
}
