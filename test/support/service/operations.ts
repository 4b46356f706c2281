/** Every operation of the service, as its routes tell of them. */

import { operationsOf, type Operation } from '../../../server/discovery/openapi/operation.ts'
import { openWall } from './wall.ts'

const { app, db } = await openWall()

export const OPERATIONS: readonly Operation[] = operationsOf(app)

await db.close()
