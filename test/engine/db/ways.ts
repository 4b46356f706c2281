import { openSqlite, openSqliteUnchecked, type Sqlite } from '../../../db/sqlite/open.ts'

type Open = (...opening: Parameters<typeof openSqlite>) => Promise<Sqlite>

const openAhead: Open = async (...opening) => {
  const { store, checked, checkHistory } = await openSqliteUnchecked(...opening)
  await checked
  await checkHistory()
  return store
}

/** Both ways to open a file: checking it first, and reading it during the check. */
export const WAYS: readonly (readonly [name: string, open: Open])[] = [
  ['opened', openSqlite],
  ['opened ahead', openAhead],
]
