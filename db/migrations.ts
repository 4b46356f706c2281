/** The steps that migrate a database to the newest version of its tables. */

import wallOnPostgres from './migrations/0001_wall.postgres.sql' with { type: 'text' }
import wallOnSqlite from './migrations/0001_wall.sqlite.sql' with { type: 'text' }
import unanswered from './migrations/0002_unanswered.sql' with { type: 'text' }
import compactionOnPostgres from './migrations/0003_compaction.postgres.sql' with { type: 'text' }
import compactionOnSqlite from './migrations/0003_compaction.sqlite.sql' with { type: 'text' }
import paintersOnPostgres from './migrations/0004_painters.postgres.sql' with { type: 'text' }
import paintersOnSqlite from './migrations/0004_painters.sqlite.sql' with { type: 'text' }
import areasOnPostgres from './migrations/0005_areas.postgres.sql' with { type: 'text' }
import areasOnSqlite from './migrations/0005_areas.sqlite.sql' with { type: 'text' }
import moderationOnPostgres from './migrations/0006_moderation.postgres.sql' with { type: 'text' }
import moderationOnSqlite from './migrations/0006_moderation.sqlite.sql' with { type: 'text' }
import orderOnPostgres from './migrations/0007_order.postgres.sql' with { type: 'text' }
import orderOnSqlite from './migrations/0007_order.sqlite.sql' with { type: 'text' }
import sizesOnPostgres from './migrations/0008_sizes.postgres.sql' with { type: 'text' }
import sizesOnSqlite from './migrations/0008_sizes.sqlite.sql' with { type: 'text' }
import creditsOnPostgres from './migrations/0009_credits.postgres.sql' with { type: 'text' }
import creditsOnSqlite from './migrations/0009_credits.sqlite.sql' with { type: 'text' }
import handedTo from './migrations/0010_handed_to.sql' with { type: 'text' }
import orders from './migrations/0011_orders.sql' with { type: 'text' }
import reusedReceipts from './migrations/0012_reused_receipts.sql' with { type: 'text' }
import payeesOnPostgres from './migrations/0013_payees.postgres.sql' with { type: 'text' }
import payeesOnSqlite from './migrations/0013_payees.sqlite.sql' with { type: 'text' }
import historyOnPostgres from './migrations/0014_history.postgres.sql' with { type: 'text' }
import historyOnSqlite from './migrations/0014_history.sqlite.sql' with { type: 'text' }
import backupsOnPostgres from './migrations/0015_backups.postgres.sql' with { type: 'text' }
import backupsOnSqlite from './migrations/0015_backups.sqlite.sql' with { type: 'text' }
import deliveriesOnPostgres from './migrations/0016_deliveries.postgres.sql' with { type: 'text' }
import deliveriesOnSqlite from './migrations/0016_deliveries.sqlite.sql' with { type: 'text' }
import reportsOnPostgres from './migrations/0017_reports.postgres.sql' with { type: 'text' }
import reportsOnSqlite from './migrations/0017_reports.sqlite.sql' with { type: 'text' }
import type { Text } from './tx.ts'

/**
 * The steps in order, each with one text for both engines or one text per engine. A database's version is the number of
 * steps already applied to it.
 */
const MIGRATIONS: readonly Text[] = [
  { sqlite: wallOnSqlite, postgres: wallOnPostgres },
  unanswered,
  { sqlite: compactionOnSqlite, postgres: compactionOnPostgres },
  { sqlite: paintersOnSqlite, postgres: paintersOnPostgres },
  { sqlite: areasOnSqlite, postgres: areasOnPostgres },
  { sqlite: moderationOnSqlite, postgres: moderationOnPostgres },
  { sqlite: orderOnSqlite, postgres: orderOnPostgres },
  { sqlite: sizesOnSqlite, postgres: sizesOnPostgres },
  { sqlite: creditsOnSqlite, postgres: creditsOnPostgres },
  handedTo,
  orders,
  reusedReceipts,
  { sqlite: payeesOnSqlite, postgres: payeesOnPostgres },
  { sqlite: historyOnSqlite, postgres: historyOnPostgres },
  { sqlite: backupsOnSqlite, postgres: backupsOnPostgres },
  { sqlite: deliveriesOnSqlite, postgres: deliveriesOnPostgres },
  { sqlite: reportsOnSqlite, postgres: reportsOnPostgres },
]

/** The schema version that this program writes. */
export const TABLES_VERSION = MIGRATIONS.length

/** The migration steps of an engine. */
export const listMigrations = (engine: 'sqlite' | 'postgres'): readonly string[] =>
  MIGRATIONS.map((text) => (typeof text === 'string' ? text : text[engine]))
