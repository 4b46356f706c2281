/** get_founding_machines: the first agents to have bought. */

import { Type } from '@sinclair/typebox'
import { Agents, REGISTRY_MAX } from '../../../shared/contract/agent.ts'
import { registry } from '../../domain/wall/wall-view.ts'
import { Arguments, Output, Untrusted } from '../arguments.ts'
import { succeed, UNTRUSTED_AGENTS } from '../reply.ts'
import { READ_ONLY, tool } from '../tool.ts'

const LIMIT_DEFAULT = 25

export const getFoundingMachines = tool(
  {
    name: 'get_founding_machines',
    title: 'Read the registry of founding machines',
    description:
      'Use to see which agents bought first: the registry in order of arrival, at most its first 100. Not for one wallet’s own standing (my_wall) or a block’s owner (get_block). Free, no side effects. Errors: invalid_limit. Returns {agents, total, untrusted}; total counts agents beyond the first 100 too. Members named in untrusted were written by strangers.',
    annotations: READ_ONLY,
    input: Arguments({
      limit: Type.Integer({
        minimum: 1,
        maximum: REGISTRY_MAX,
        default: LIMIT_DEFAULT,
        description: `How many agents, 1 to ${REGISTRY_MAX}. Default ${LIMIT_DEFAULT}.`,
        examples: [10],
      }),
    }),
    output: Output({ ...Agents.properties, untrusted: Untrusted }),
  },
  { limit: 'invalid_limit' },
  ({ view }, { limit }) => {
    const { agents, total } = registry(view)
    return succeed({ agents: agents.slice(0, limit), total, untrusted: UNTRUSTED_AGENTS })
  },
)
