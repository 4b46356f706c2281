/** Runs scripts to their end. */

import { Overtaken } from '../domain/failure.ts'
import type { Answer, AnswerTo, Request, Script, Verb } from '../domain/purchase.ts'
import type { TellStep } from './tell-steps.ts'

/** Answers what scripts ask for. */
export type World = { readonly [V in Verb]: (request: Extract<Request, { do: V }>) => Promise<AnswerTo<V>> }

/** Runs a script to its end; what a port throws is thrown into the script at the request that caused it. */
async function play<T>(script: Script<T>, world: World, tell: TellStep): Promise<T> {
  let step = script.next()
  while (step.done !== true) {
    const told = tell(step.value)
    const reply = await answerOf(step.value, world).then(
      (answer) => ({ answer }),
      (error: unknown) => ({ error }),
    )
    told(reply)
    step = 'error' in reply ? script.throw(reply.error) : script.next(reply.answer)
  }
  return step.value
}

const RUNS_MAX = 5

/**
 * Runs a script, and again from what is written where another process has moved its payment on meanwhile, as a port or
 * `check` tells by throwing `Overtaken`.
 */
export async function playThrough<T>(
  begin: () => Script<T>,
  world: World,
  tell: TellStep,
  check: (end: T) => Promise<void> = async () => {},
): Promise<T> {
  for (let runs = 1; ; runs += 1) {
    try {
      const end = await play(begin(), world, tell)
      await check(end)
      return end
    } catch (error) {
      if (!(error instanceof Overtaken) || runs === RUNS_MAX) throw error
    }
  }
}

function answerOf(request: Request, world: World): Promise<Answer> {
  // The table has one entry per verb, which the compiler cannot follow through an index by a union.
  const handle = world[request.do] as (request: Request) => Promise<Answer>
  return handle(request)
}
