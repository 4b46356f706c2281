import { openSqlite, openSqliteUnchecked, type Sqlite } from '../../../db/sqlite/open.ts'

type Open = (...opening: Parameters<typeof openSqlite>) => Promise<Sqlite>

const openAfterChecks: Open = async (...opening) => {
  const { store, checked, checkHistory } = await openSqliteUnchecked(...opening)
  await checked
  await checkHistory()
  return store
}

/** Both ways to open a file: after its check, and while a separate thread is still checking it. */
export const WAYS: readonly (readonly [name: string, open: Open])[] = [
  ['with a check first', openSqlite],
  ['with a check afterwards', openAfterChecks],
]
