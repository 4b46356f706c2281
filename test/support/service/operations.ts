/** Every operation of the service, from its routes. */

import { collectOperations, type Operation } from '../../../server/discovery/openapi/operation.ts'
import { openWall } from './wall.ts'

const { app, db } = await openWall()

export const OPERATIONS: readonly Operation[] = collectOperations(app)

await db.close()
