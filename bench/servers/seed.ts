/**
 * Painted walls of any size, in files that the service itself can open: they are made with its own migrations and row
 * checksums.
 */

import { privateKeyToAccount } from 'viem/accounts'
import { openWall } from '../../db/sqlite/open.ts'
import { placeArea, listAreaBlocks } from '../../shared/area.ts'
import { CLAIM_ORDER, type BlockIndex } from '../../shared/wall.ts'
import { createPrng, type Prng } from '../../test/support/prng.ts'
import { createContent, createWorkContents, type BlockContent } from './art.ts'
import seedSql from './seed.sql' with { type: 'text' }

/** The network that seeded walls sell on, as CAIP-2. */
export const NETWORK = 'eip155:8453'

// 21 September 2026, 14:13 UTC.
const SEEDED_AT = 1_790_000_000_000

/** The private key of an agent; agents are numbered from 1. */
export const toPrivateKey = (agent: number): `0x${string}` => `0x${agent.toString(16).padStart(64, '0')}`

/** The number of the agent that buys in a sale; a few agents buy most blocks, as on a real wall. */
export const chooseBuyer = (sale: number, agents: number): number =>
  1 + Math.floor(agents * ((sale * 0.618_034) % 1) ** 3)

/** A sale of a seeded wall. */
type SeededSale = { readonly block: BlockIndex; readonly buyer: number; readonly shown: BlockContent }

/** How much of a seeded wall is sold, to how many wallets at most, and whether in artworks of several blocks. */
export type Seeding = { readonly blocks: number; readonly agents: number; readonly inWorks?: boolean }

/** Writes a wall with these sales, each block with its art. */
export function seedWall(path: string, { blocks, agents, inWorks = false }: Seeding): void {
  const connection = openWall(path, NETWORK)
  const sql = prepareStatements(connection)
  const random = createPrng(14_400)
  const people = Array.from({ length: agents }, (_, at) => ({
    wallet: privateKeyToAccount(toPrivateKey(at + 1)).address.toLowerCase(),
    name: `${random.pick(['Ada', 'Noether', 'Gauss', 'Euler', 'Turing'])} ${at + 1}`,
    framework: random.pick(['langchain', 'autogen', 'crewai', 'own', null]),
  }))
  const sales = inWorks ? listSalesOfWorks(random, blocks, agents) : listSingleSales(random, blocks, agents)
  connection.write(() => {
    for (const [at, { block, buyer: person, shown }] of sales.entries()) {
      const number = at + 1
      const buyer = people[person - 1]
      if (buyer === undefined) throw new Error('a sale has no buyer')
      const entry = { number, at: SEEDED_AT + 1000 * number }
      const { id: agent } = sql.agent.get({ ...buyer, ...entry }) ?? { id: 0 }
      const { name, framework, wallet } = buyer
      sql.change.run({ ...entry, block, agent, name, framework, ...shown })
      const nonce = `0x${number.toString(16).padStart(64, '0')}`
      sql.payment.run({ ...entry, block, nonce, wallet, name, framework, ...shown })
      sql.block.run({ number, block, agent, ...shown })
    }
  })
  connection.close()
}

const listSingleSales = (random: Prng, blocks: number, agents: number): SeededSale[] =>
  CLAIM_ORDER.slice(0, blocks).map((block, at) => ({
    block,
    buyer: chooseBuyer(at + 1, agents),
    shown: createContent(random),
  }))

// The sizes in blocks of many small artworks and a few large ones, sixteen blocks on average.
const WORK_SIZES = [
  [1, 1],
  [1, 1],
  [2, 2],
  [2, 1],
  [3, 2],
  [3, 3],
  [4, 3],
  [5, 5],
  [8, 6],
  [9, 8],
] as const

/** Sales of artworks around the middle, each to one buyer, until about this many blocks are sold. */
function listSalesOfWorks(random: Prng, blocks: number, agents: number): SeededSale[] {
  const sold = new Map<BlockIndex, SeededSale>()
  for (let work = 1; sold.size < blocks; work++) {
    const [w, h] = random.pick(WORK_SIZES)
    const place = CLAIM_ORDER.values()
      .map((block) => placeArea(block, { w, h }))
      .find((area) => area !== undefined && listAreaBlocks(area).every((block) => !sold.has(block)))
    if (place === undefined) break
    const shown = createWorkContents(random, place)
    for (const [part, block] of listAreaBlocks(place).entries()) {
      const one = shown[part]
      if (one) sold.set(block, { block, buyer: chooseBuyer(work, agents), shown: one })
    }
  }
  return [...sold.values()]
}

type Value = string | number | Uint8Array | null

function prepareStatements(connection: ReturnType<typeof openWall>) {
  const [agent = '', change = '', payment = '', block = ''] = seedSql.split(';\n')
  const prepare = (text: string) => connection.prepare<{ id: number }, Record<string, Value>>(text)
  return { agent: prepare(agent), change: prepare(change), payment: prepare(payment), block: prepare(block) }
}
