/** Walks a purchase script through every combination of replies, so that no path can be missed. */

import type { ScriptAnswer, ScriptRequest, Script } from '../../../server/domain/purchase/purchase.ts'

/** One possible reply to a request: a value, or an error thrown into the script. */
export type Reply =
  | { readonly label: string; readonly answer: ScriptAnswer }
  | { readonly label: string; readonly fault: Error }

export type Step = { readonly request: ScriptRequest; readonly reply: Reply }

/** One run from start to end. */
export type Path<T> = {
  readonly steps: readonly Step[]
  readonly end: { readonly kind: 'answered'; readonly value: T } | { readonly kind: 'threw'; readonly error: unknown }
}

/** The maximum number of steps in a path; a longer path means that the script loops. */
export const STEPS_MAX = 16

/** Every path of `start`; `replies` lists the possible replies to each request. */
export function* walkPaths<T>(
  start: () => Script<T>,
  replies: (request: ScriptRequest, before: readonly Step[]) => readonly Reply[],
  steps: readonly Step[] = [],
): Generator<Path<T>> {
  if (steps.length > STEPS_MAX) throw new Error(`no end after ${formatSteps(steps)}`)
  const at = replayPath(start(), steps)
  if (at.kind !== 'asks') {
    yield { steps, end: at }
    return
  }
  for (const reply of replies(at.request, steps)) {
    yield* walkPaths(start, replies, [...steps, { request: at.request, reply }])
  }
}

/** A path on one line, such as `look-up: unknown > check-availability: open`. */
export const formatSteps = (steps: readonly Step[]): string =>
  steps.map(({ request, reply }) => `${request.do}: ${reply.label}`).join(' > ')

type Stop<T> = { readonly kind: 'asks'; readonly request: ScriptRequest } | Path<T>['end']

function replayPath<T>(script: Script<T>, steps: readonly Step[]): Stop<T> {
  try {
    let at = script.next()
    for (const { reply } of steps) at = 'fault' in reply ? script.throw(reply.fault) : script.next(reply.answer)
    return at.done === true ? { kind: 'answered', value: at.value } : { kind: 'asks', request: at.value }
  } catch (error) {
    return { kind: 'threw', error }
  }
}
