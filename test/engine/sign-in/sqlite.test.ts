import { openSqlite } from '../../../db/sqlite/open.ts'
import { TERMS } from '../../support/samples.ts'
import { signInContract } from './sign-in.contract.ts'

// A file has one process, so that both walls are over one store.
signInContract('SQLite', async () => {
  const store = await openSqlite(':memory:', TERMS.network)
  return [store, store]
})
