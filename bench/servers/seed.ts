/** Walls of any size, painted, in a file that the service itself can open: through its own migrations and row sums. */

import { privateKeyToAccount } from 'viem/accounts'
import { openWall } from '../../db/sqlite/open.ts'
import { CLAIM_ORDER } from '../../shared/wall.ts'
import { content } from './art.ts'
import { prng, pick } from './prng.ts'
import seedSql from './seed.sql' with { type: 'text' }

/** The network that seeded walls sell on, as CAIP-2. */
export const NETWORK = 'eip155:8453'

// A Tuesday noon.
const SEEDED_AT = 1_790_000_000_000

/** The private key of the agent with that number, from 1. */
export const keyOf = (agent: number): `0x${string}` => `0x${agent.toString(16).padStart(64, '0')}`

/** The agent that a sale went to; a few buy most, as agents do. */
export const buyerOf = (sale: number, agents: number): number => 1 + Math.floor(agents * ((sale * 0.618_034) % 1) ** 3)

/** Writes a wall on which `blocks` are sold to at most `agents` wallets, each with its art. */
export function seed(path: string, blocks: number, agents: number): void {
  const connection = openWall(path, NETWORK)
  const sql = statements(connection)
  const roll = prng(14_400)
  const people = Array.from({ length: agents }, (_, at) => ({
    wallet: privateKeyToAccount(keyOf(at + 1)).address.toLowerCase(),
    name: `${pick(roll, ['Ada', 'Noether', 'Gauss', 'Euler', 'Turing'])} ${at + 1}`,
    framework: pick(roll, ['langchain', 'autogen', 'crewai', 'own', null]),
  }))
  connection.write(() => {
    for (const [at, block] of CLAIM_ORDER.slice(0, blocks).entries()) {
      const number = at + 1
      const buyer = people[buyerOf(number, agents) - 1]
      if (buyer === undefined) throw new Error('a sale without a buyer')
      const entry = { number, at: SEEDED_AT + 1000 * number }
      const { id: agent } = sql.agent.get({ ...buyer, ...entry }) ?? { id: 0 }
      const { name, framework, wallet } = buyer
      const shown = content(roll)
      sql.change.run({ ...entry, block, agent, name, framework, ...shown })
      const nonce = `0x${number.toString(16).padStart(64, '0')}`
      sql.payment.run({ ...entry, block, nonce, wallet, name, framework, ...shown })
      sql.block.run({ number, block, agent, ...shown })
    }
  })
  connection.close()
}

type Value = string | number | Uint8Array | null

function statements(connection: ReturnType<typeof openWall>) {
  const [agent = '', change = '', payment = '', block = ''] = seedSql.split(';\n')
  const prepare = (text: string) => connection.prepare<{ id: number }, Record<string, Value>>(text)
  return { agent: prepare(agent), change: prepare(change), payment: prepare(payment), block: prepare(block) }
}
