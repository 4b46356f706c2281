/** Opens the wall's store on either engine. Only the engine in use is loaded. */

import type { Database } from '../server/domain/store-position.ts'
import type { Ahead, Engine } from './engine.ts'
import type { Books } from './purchase/books.ts'
import type { DamagedRow } from './row-checksums.ts'

/** How a store is opened: callbacks for failures, and how long to wait for a server. */
export type Opening = {
  /** The disk failed at commit: the process must end, because only a restart can tell what was saved. */
  readonly onBroken: () => void
  /** SQLite: a row does not match its checksum; it is left out from then on. */
  readonly onDamaged: (row: DamagedRow) => void
  readonly onUnchecked: () => void // PostgreSQL: the server does not check its pages for damage
  readonly answerMs: number // PostgreSQL: how long to wait for a server that does not respond at all
}

/** Opens or creates the store for one network (CAIP-2). Throws `CannotOpen` with a message for the operator. */
export async function openStore(place: Database, network: string, opening?: Opening): Promise<Engine> {
  if (place.kind === 'postgres') {
    const { openPostgres } = await import('./postgres/open.ts')
    return await openPostgres(place.url, network, opening)
  }
  const { openSqlite } = await import('./sqlite/open.ts')
  const store = await openSqlite(place.path, network, opening)
  return { ...store, close: async () => store.close() }
}

/** Opens the store without waiting for the check of a SQLite file, which continues in a worker thread. */
export async function openStoreUnchecked(place: Database, network: string, opening?: Opening): Promise<Ahead> {
  if (place.kind === 'postgres')
    return {
      store: await openStore(place, network, opening),
      checked: Promise.resolve('whole'),
      checkHistory: () => Promise.resolve(),
    }
  const { openSqliteUnchecked } = await import('./sqlite/open.ts')
  const { store, ...checks } = await openSqliteUnchecked(place.path, network, opening)
  return { store: { ...store, close: async () => store.close() }, ...checks }
}

/** The books of a store, and how many processes have it open. `await using` closes the books. */
export type OpenBooks = Books & AsyncDisposable & { countInstances(): Promise<number> }

/** Opens the books of a store read-only, while other processes may be using it. Throws `CannotOpen`. */
export async function openBooks(place: Database): Promise<OpenBooks> {
  if (place.kind === 'postgres') {
    const { openPostgresAudit } = await import('./postgres/audit.ts')
    const audit = await openPostgresAudit(place.url)
    return { ...audit, [Symbol.asyncDispose]: audit.close }
  }
  const { openAudit } = await import('./sqlite/audit.ts')
  const audit = openAudit(place.path)
  // Only one process can run a wall on a SQLite file.
  return { ...audit, countInstances: async () => 1, [Symbol.asyncDispose]: async () => audit.close() }
}
