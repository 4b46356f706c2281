/** Reads of the view that are asked for again and again, answered once for each state of it. */

import type { WallView } from '../domain/wall-view.ts'
import { copyOf, type ReadyAnswer } from './ready-answer.ts'
import { queryOf } from './target.ts'

// Followers ask for the same few pages; whoever asks for others gets them made.
const ANSWERS_MAX = 64
const QUERY_MAX = 40

/** Answers from `make` until the view changes, once for each query. */
export function untilChanged(view: WallView, make: ReadyAnswer): ReadyAnswer {
  const ready = new Map<string, Response>()
  let asOf: number | undefined
  return (request) => {
    if (asOf !== view.number) ready.clear()
    asOf = view.number
    const query = queryOf(request.url)
    const known = ready.get(query)
    if (known !== undefined) return copyOf(known)
    const made = make(request)
    if (made.status !== 200 || query.length > QUERY_MAX || ready.size >= ANSWERS_MAX) return made
    ready.set(query, made)
    return copyOf(made)
  }
}
