/** What goes wrong around the wall in a case's words, and how it is made to. */

import type { SettleFault, VerifyFault } from '../../support/chain/faulty-facilitator.ts'
import type { Stage } from './stage.ts'

/** Ends a fault. */
export type Mend = () => Promise<void>

type Fault = (stage: Stage) => Promise<Mend>

const nothingToMend: Mend = async () => {}

const settling =
  (fault: SettleFault): Fault =>
  async ({ world }) => {
    world.facilitator.settle.next(fault)
    return nothingToMend
  }

const verifying =
  (fault: VerifyFault): Fault =>
  async ({ world }) => {
    world.facilitator.verify.next(fault)
    return nothingToMend
  }

/** The database refuses to be written from now on. */
const databaseLocked: Fault = async (stage) => {
  const unlock = stage.lockDatabase()
  return async () => unlock()
}

/** The database refuses to be written from the moment the facilitator is asked to settle. */
const databaseLockedAtFinalize: Fault = async (stage) => {
  const { settle } = stage.world.facilitator
  const unlocking = settle.arrived(settle.count() + 1).then(() => stage.lockDatabase())
  return async () => (await unlocking)()
}

/** Faults by what a case's precondition says, the most exact first. */
const faults: readonly (readonly [RegExp, Fault])[] = [
  [/database .*(between|after) settle/i, databaseLockedAtFinalize],
  [/database/i, databaseLocked],
  [/settle (times out|hangs|silent)[^]*before broadcast/i, settling('hang-before')],
  [/settle (times out|hangs)/i, settling('hang-after')],
  [/settle .*(pending)/i, settling('pending-after')],
  [/settle .*(reset|drops|cut|dies).*before/i, settling('reset-before')],
  [/settle .*(reset|drops|cut|dies)/i, settling('reset-after')],
  [/settle .*(garbage|truncated|no json|not json|html)/i, settling('garbage-after')],
  [/settle .*(5\d\d|error).*before/i, settling('error-before')],
  [/settle .*(5\d\d|error)/i, settling('error-json-after')],
  [/settle .*(hash|transaction).*(unknown|invented|missing|no such|not exist)/i, settling('invented-hash')],
  [/settle .*(empty|without a) (hash|transaction)/i, settling('lost-hash-after')],
  [/settle .*(refus|success ?[:=]? ?false|fails)/i, settling('refused-recipient')],
  [/verify .*(times out|hangs)/i, verifying('hang')],
  [/verify .*(reset|drops|cut)/i, verifying('reset')],
  [/verify .*(garbage|truncated|no json|not json|html)/i, verifying('garbage')],
  [/verify .*(insufficient|funds|invalid)/i, verifying('insufficient-funds')],
  [/facilitator.*hang/i, verifying('hang')],
  [/verify|facilitator/i, verifying('error-503')],
]

/** Makes the fault of a precondition happen; throws for one that is not known. */
export async function cause(stage: Stage, precondition: string): Promise<Mend> {
  const fault = faults.find(([pattern]) => pattern.test(precondition))?.[1]
  if (fault === undefined) throw new Error(`an unknown precondition: ${precondition}`)
  return await fault(stage)
}
