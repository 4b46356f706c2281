import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { openPostgres } from '../../../db/postgres/open.ts'
import { openSqlite, openWall } from '../../../db/sqlite/open.ts'
import type { Target } from '../../../server/domain/purchase/payment.ts'
import type { Purchase } from '../../../server/domain/purchase/purchase.ts'
import { CLAIM_ORDER, type BlockIndex } from '../../../shared/wall.ts'
import type { Engine } from '../../support/engine.ts'
import { sellAllBut, sellAllButOn } from '../../support/nearly-sold.ts'
import { startPostgres, type PostgresServer } from '../../support/postgres/server.ts'
import { hash, HEAD, listingOf, NOW, paymentOf, TERMS } from '../../support/samples.ts'

// Goal: whatever the order of the ledger's steps, a block has one owner, a payment one fate, and sales are numbered
// without a gap. Method: random steps of a few payers over the last three blocks, against a model of a few lines.

const LEFT = 3
const blocks = CLAIM_ORDER.slice(-LEFT)
const payers = [1, 2]
const nonces = [1, 2, 3, 4]

const folder = mkdtempSync(join(tmpdir(), 'wall-'))
const template = join(folder, 'template.sqlite')
let server: PostgresServer
let database: string
beforeAll(async () => {
  const connection = openWall(template, TERMS.network)
  sellAllBut(LEFT, connection)
  connection.close()
  server = await startPostgres()
  database = await server.newDatabase()
  await (await openPostgres(server.url(database), TERMS.network)).close()
  await sellAllButOn(server.url(database), LEFT)
}, 30_000)
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await server.stop()
})

let files = 0
const engines = [
  {
    name: 'SQLite',
    numRuns: 20,
    async open(): Promise<Engine> {
      const path = join(folder, `${files++}.sqlite`)
      copyFileSync(template, path)
      return await openSqlite(path, TERMS.network)
    },
  },
  {
    name: 'PostgreSQL',
    numRuns: 10,
    open: async (): Promise<Engine> =>
      await openPostgres(server.url(await server.newDatabase(database)), TERMS.network),
  },
]

type Verb = 'claim' | 'wait' | 'finalize' | 'release' | 'bury' | 'owe' | 'answer' | 'confirm'
type Step = {
  readonly verb: Verb
  readonly payer: number
  readonly nonce: number
  readonly target: Target
  readonly areAttended: boolean
}

const step: fc.Arbitrary<Step> = fc.record({
  verb: fc.constantFrom(
    ...(['claim', 'claim', 'claim', 'wait', 'finalize', 'release', 'bury'] as const),
    ...(['owe', 'answer', 'confirm'] as const),
  ),
  payer: fc.constantFrom(...payers),
  nonce: fc.constantFrom(...nonces),
  target: fc.constantFrom<Target>('next', 'next', ...blocks),
  areAttended: fc.boolean(), // whether runs with clients are at all other purchases of the payer
})

/** What the model knows of a payment. */
type Known = {
  readonly payer: number
  readonly target: Target
  block: BlockIndex
  kind: Purchase['state']['kind']
  flags: Readonly<Record<string, boolean>>
}

type Model = Map<string, Known>

const holderOf = (model: Model, block: BlockIndex) =>
  [...model.values()].find((known) => known.block === block && ['reserved', 'sold'].includes(known.kind))

function spaceIn(model: Model, target: Target): BlockIndex | 'reserved' | 'claimed' {
  if (typeof target === 'number') {
    const holder = holderOf(model, target)
    return holder === undefined ? target : holder.kind === 'sold' ? 'claimed' : 'reserved'
  }
  const open = blocks.find((block) => holderOf(model, block) === undefined)
  if (open !== undefined) return open
  return blocks.some((block) => holderOf(model, block)?.kind === 'reserved') ? 'reserved' : 'claimed'
}

/** What a claim must answer; holds the block in the model when it is one. */
function claimIn(model: Model, key: string, { payer, target: asked, areAttended }: Step): string {
  const known = model.get(key)
  if (known !== undefined && known.kind !== 'released') return 'throws'
  const target = known?.target ?? asked
  const isPrior = ([other, { kind, flags, ...prior }]: [string, Known]) => {
    if (other === key || prior.payer !== payer) return false
    if (kind === 'reserved') return prior.target === target && (flags['uncertain'] === true || !areAttended)
    const isOfTarget = prior.target === target || prior.block === target
    return kind === 'sold' && flags['unanswered'] === true && !areAttended && isOfTarget
  }
  if ([...model].some(isPrior)) return 'prior'
  const block = spaceIn(model, target)
  if (typeof block === 'string') return `lost: ${block}`
  model.set(key, { payer, target, block, kind: 'reserved', flags: { uncertain: false } })
  return 'claimed'
}

/** What any other step must do to a payment; `throws` when it must be refused. */
function applyTo(model: Model, known: Known, verb: Exclude<Verb, 'claim'>): string {
  const become = (kind: Known['kind'], flags: Known['flags']) => {
    known.kind = kind
    known.flags = flags
    return 'done'
  }
  const { kind, flags } = known
  switch (`${kind} ${verb}`) {
    case 'reserved wait':
      return become('reserved', { ...flags, uncertain: true })
    case 'reserved finalize':
      return become('sold', { settled: false, unanswered: true })
    case 'reserved release':
    case 'reserved bury':
      return become('released', { isFinal: verb === 'bury' })
    case 'released bury':
      return become('released', { isFinal: true })
    case 'released owe': {
      const own = spaceIn(model, known.block)
      const block = typeof own === 'string' ? spaceIn(model, 'next') : own
      if (typeof block === 'string') return become('credited', {})
      known.block = block
      return become('sold', { settled: true, unanswered: true })
    }
    case 'sold confirm':
      return become('sold', { ...flags, settled: true })
    case 'sold answer':
      return become('sold', { ...flags, unanswered: false })
    default: {
      const harmless = ['released release', 'sold finalize', 'sold owe', 'credited owe']
      return verb === 'answer' || harmless.includes(`${kind} ${verb}`) ? 'done' : 'throws'
    }
  }
}

/** What the ledger itself answers to a step, in the model's words. */
async function take({ ledger }: Engine, { verb, payer, nonce, target, areAttended }: Step): Promise<string> {
  const payment = paymentOf(payer, nonce)
  const attended = areAttended ? nonces.map((other) => paymentOf(payer, other).nonce) : []
  try {
    if (verb === 'claim') {
      const claiming = await ledger.claim(target, payment, listingOf(), HEAD, NOW, attended)
      return claiming.kind === 'lost' ? `lost: ${claiming.space}` : claiming.kind
    }
    const purchase = await ledger.find(payment)
    if (purchase === undefined) return 'unknown'
    if (verb === 'wait') await ledger.markUncertain(purchase)
    if (verb === 'finalize') await ledger.finalize(purchase, hash(nonce), false, NOW)
    if (verb === 'release' || verb === 'bury') await ledger.release(purchase, verb === 'bury')
    if (verb === 'owe') await ledger.fulfilLatePayment(purchase, hash(nonce), NOW)
    if (verb === 'answer') await ledger.markAnswered(payment, payment.nonce)
    if (verb === 'confirm') await ledger.confirm(purchase, hash(nonce))
    return 'done'
  } catch {
    return 'throws'
  }
}

/** Every payment as the ledger knows it, in the model's shape. */
async function ledgerNow({ ledger }: Engine): Promise<Record<string, unknown>> {
  const keys = payers.flatMap((payer) =>
    nonces.map((nonce) => ({ key: `${payer}:${nonce}`, payment: paymentOf(payer, nonce) })),
  )
  const found = await Promise.all(keys.map(async ({ key, payment }) => ({ key, purchase: await ledger.find(payment) })))
  return Object.fromEntries(
    found.flatMap(({ key, purchase }) => {
      if (purchase === undefined) return []
      const { target, block, state } = purchase
      const { kind, ...rest } = state
      const flags = Object.fromEntries(Object.entries(rest).filter(([, value]) => typeof value === 'boolean'))
      return [[key, { target, block, kind, flags }]]
    }),
  )
}

const modelNow = (model: Model) =>
  Object.fromEntries([...model].map(([key, { target, block, kind, flags }]) => [key, { target, block, kind, flags }]))

describe.each(engines)('on $name', ({ open, numRuns }) => {
  test('whatever the order of steps, the ledger does what a model of a few lines does', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
        const engine = await open()
        try {
          const model: Model = new Map()
          for (const taken of steps) {
            const key = `${taken.payer}:${taken.nonce}`
            const known = model.get(key)
            const { verb } = taken
            const expected =
              verb === 'claim'
                ? claimIn(model, key, taken)
                : known === undefined
                  ? 'unknown'
                  : applyTo(model, known, verb)
            expect({ ...taken, answer: await take(engine, taken) }).toEqual({ ...taken, answer: expected })
            expect(await ledgerNow(engine)).toEqual(modelNow(model))
          }
          const sold = [...model.values()].filter(({ kind }) => kind === 'sold')
          expect(new Set(sold.map(({ block }) => block)).size).toBe(sold.length)
          const sales = await engine.log.after(CLAIM_ORDER.length - LEFT, 99)
          expect(sales.map((change) => change.kind === 'sale' && change.seq)).toEqual(
            sold.map((_, at) => CLAIM_ORDER.length - LEFT + 1 + at),
          )
          for (const block of blocks)
            expect((await engine.blocks.owned(block)) !== undefined).toBe(holderOf(model, block)?.kind === 'sold')
        } finally {
          await engine.close()
        }
      }),
      { numRuns },
    )
  })
})
