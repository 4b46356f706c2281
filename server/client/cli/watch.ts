import type { Reset, ChangeDto } from '../wall.ts'
import { UsageError, type Command } from './command.ts'

/** `pixel-wall watch`: every sale, repaint and new name as it happens, until it is stopped. */
export const watch: Command = {
  summary: 'tells of every sale, repaint and new name as it happens',
  usage: '',
  options: { after: 'the number of a change, to begin after it' },
  argumentsMax: 0,
  async run({ options: { after }, reader, print }) {
    if (after !== undefined && !/^\d{1,15}$/.test(after)) throw new UsageError('--after takes the number of a change.')
    for await (const change of reader().follow({ after: after === undefined ? undefined : Number(after) }))
      print(change, [changeLine(change)])
  },
}

function changeLine(change: ChangeDto | Reset): string {
  switch (change.kind) {
    case 'sale':
      return `${change.number}: block ${change.coord} sold to ${change.agent.name ?? change.agent.wallet}`
    case 'repaint':
      return `${change.number}: block ${change.coord} repainted${change.m === undefined ? '' : `: ${change.m}`}`
    case 'identity':
      return `${change.number}: agent ${change.agent.id} is called ${change.agent.name ?? 'nothing'}`
    case 'reset':
      return `${change.number}: too much was missed; the canvas read shows all up to here`
  }
}
