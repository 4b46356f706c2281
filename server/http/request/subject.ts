/** What an address of the page is about. */

import { parseCoord } from '../../../shared/wall.ts'
import type { CardSubject } from '../../domain/picture/card.ts'
import type { WallView } from '../../domain/wall/wall-view.ts'
import { readQuery } from './query.ts'

/** Its block, its work or its agent, else the wall. What names none of them is left to the page. */
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

/** An agent by its number or by its wallet, whole or as it is shown. */
const agentNamed = ({ agentByName }: WallView, text = ''): number | undefined => agentByName.get(text.toLowerCase())?.id
