/** The subject of an address of the page: a block, a work, an agent or the wall. */

import { parseCoord } from '../../../shared/wall.ts'
import type { CardSubject } from '../../domain/picture/card.ts'
import type { WallView } from '../../domain/wall/wall-view.ts'
import { readQuery } from './query.ts'

/** Reads the subject from a query; the wall when it names none. Invalid values are left to the page. */
export function subjectOf(url: string, view: WallView): CardSubject {
  const query = readQuery(url, ['block', 'work', 'agent'])
  const textOf = (key: 'block' | 'work' | 'agent') => {
    const value = query.get(key)
    return value !== undefined && 'text' in value ? value.text : undefined
  }
  const block = parseCoord(textOf('block') ?? '')
  if (block !== undefined) return { kind: 'block', block }
  const work = parseCoord(textOf('work') ?? '')
  if (work !== undefined) return { kind: view.claimed.has(work) ? 'work' : 'block', block: work }
  const agent = agentNamed(view, textOf('agent'))
  return agent === undefined ? { kind: 'wall' } : { kind: 'agent', agent }
}

/** Finds an agent by its number or by its wallet, in full or truncated. */
const agentNamed = ({ agentByName }: WallView, text = ''): number | undefined => agentByName.get(text.toLowerCase())?.id
