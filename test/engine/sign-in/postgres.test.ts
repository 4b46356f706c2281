import { openPostgres } from '../../../db/postgres/open.ts'
import { TERMS } from '../../support/samples.ts'
import { postgresWalls } from '../db/postgres/walls.ts'
import { signInContract } from './sign-in.contract.ts'

const { newWall } = postgresWalls()

signInContract('PostgreSQL', async () => {
  const url = await newWall()
  return [await openPostgres(url, TERMS.network), await openPostgres(url, TERMS.network)]
})
