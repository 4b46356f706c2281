/**
 * Runs the operator's commands inside the running wall. Only the wall's own process writes, because it owns the
 * database and the payment leases.
 */

import { Type, type Static } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Closed } from '../../shared/contract/kinds.ts'
import { formatCoord, parseCoord, type BlockIndex } from '../../shared/wall.ts'
import type { RestoredBackupCheck } from '../books/check-restored-backup.ts'
import { bookPayout, bookStray, resolvePurchase, type ResolveDeps } from '../books/resolve-purchase.ts'
import { toLowerAddress, type Hash, type UnixMs } from '../domain/purchase/payment.ts'
import type { Purchase, ChainStatus } from '../domain/purchase/purchase.ts'
import { describeHolding } from '../domain/purchase/target.ts'
import type { Hidden } from '../domain/wall/log.ts'
import {
  CONTENT_PARTS,
  NAME_PARTS,
  type ContentPart,
  type NamePart,
  type WalletActResult,
} from '../domain/wall/moderation.ts'
import type { WallView } from '../domain/wall/wall-view.ts'
import type { Backups, Reports } from '../operator-ports.ts'
import {
  banWallet,
  listHiddenNow,
  moderateBlocks,
  listModerationTrail,
  parseNamedBlocks,
  findOwners,
  type ModerateDeps,
} from '../wall/moderate-blocks.ts'
import { closeReports, listReportedWorks } from '../wall/reported-works.ts'
import { formatStatus, type Overview } from './status-report.ts'

export type AdminDeps = ModerateDeps &
  ResolveDeps & {
    readonly readOverview: () => Overview
    readonly backups: Pick<Backups, 'record'>
    readonly reports: Pick<Reports, 'listOpen' | 'close'>
    readonly view: WallView
    readonly restored: Pick<RestoredBackupCheck, 'listOrphans' | 'isOlder'>
  }

/** The response to a command: lines to print, and whether it succeeded. */
export const CommandResult = Type.Object({ ok: Type.Boolean(), lines: Type.Array(Type.String()) })
export type CommandResult = Static<typeof CommandResult>

export type RunCommand = (command: string, body: unknown) => Promise<CommandResult>

const payer = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' })
const nonce = Type.String({ pattern: '^0x[0-9a-fA-F]{64}$' })
const reason = {
  who: Type.String({ minLength: 1, maxLength: 64 }),
  why: Type.Union([Type.String({ minLength: 1, maxLength: 200 }), Type.Null()]),
}
const target = Type.String({ maxLength: 60 })

/** The arguments of each command. */
export const Commands = {
  moderate: Closed({
    act: Type.Union([Type.Literal('hide'), Type.Literal('unhide')]),
    target,
    parts: Type.Array(Type.Union([...CONTENT_PARTS, ...NAME_PARTS].map((part) => Type.Literal(part))), {
      uniqueItems: true, // an empty list means all parts
    }),
    ...reason,
  }),
  ban: Closed({ act: Type.Union([Type.Literal('ban'), Type.Literal('unban')]), target, ...reason }),
  hidden: Closed({ isTrail: Type.Boolean() }),
  open: Closed({}),
  status: Closed({}),
  'backed-up': Closed({}),
  resolve: Closed({ payer, nonce }),
  reports: Closed({}),
  'close-reports': Closed({
    outcome: Type.Union([Type.Literal('hidden'), Type.Literal('dismissed')]),
    target,
    who: reason.who,
    why: Type.String({ minLength: 1, maxLength: 200 }),
  }),
  stray: Closed({ payer, nonce }),
  strays: Closed({}),
  payout: Closed({ payer, nonce, reference: Type.String({ minLength: 1, maxLength: 200 }) }),
}
export type CommandName = keyof typeof Commands
export type CommandBody<C extends CommandName> = Static<(typeof Commands)[C]>

type Handlers = {
  readonly [C in CommandName]: (deps: AdminDeps, body: CommandBody<C>) => CommandResult | Promise<CommandResult>
}

const handlers: Handlers = {
  moderate,
  ban,
  hidden: listHidden,
  open: listOpenPurchases,
  status: reportStatus,
  'backed-up': recordBackup,
  reports: listReports,
  'close-reports': closeReportsOfWork,
  resolve,
  stray: bookStrayPayment,
  strays: bookAllStrays,
  payout: recordPayout,
}

export const createAdminCommands =
  (deps: AdminDeps): RunCommand =>
  async (command, body) => {
    if (!isCommand(command)) return failWith(`unknown command ${JSON.stringify(command.slice(0, 40))}`)
    if (!Value.Check(Commands[command], body)) return failWith('the command has invalid arguments')
    // The compiler cannot follow a table lookup by a union.
    const handle = handlers[command] as (deps: AdminDeps, body: unknown) => CommandResult | Promise<CommandResult>
    return await handle(deps, body)
  }

const isCommand = (name: string): name is CommandName => Object.hasOwn(Commands, name)

async function moderate(deps: AdminDeps, body: CommandBody<'moderate'>): Promise<CommandResult> {
  const { act, target, parts, who, why } = body
  const named = await parseNamedBlocks(deps, target)
  if (typeof named === 'string') return failWith(named)
  const isAsked = (part: ContentPart | NamePart) => parts.length === 0 || parts.includes(part)
  const names = NAME_PARTS.filter(isAsked)
  if (named.wallet === undefined && names.some((part) => parts.includes(part)))
    return failWith(`${named.name} has no name of its own: only wallets have names`)
  const { blocks: done, wallet } = await moderateBlocks(
    deps,
    named,
    act,
    { parts: CONTENT_PARTS.filter(isAsked), names },
    { who, why },
  )
  const owned = done.flatMap(({ block, result }) => (result.kind === 'not-owned' ? [] : [{ block, ...result }]))
  if (owned.length === 0 && wallet === undefined)
    return failWith(`nobody owns ${named.name}, so there is nothing to hide or show`)
  const isWhole = act === 'hide' && parts.length === 0
  const owners = isWhole && named.wallet === undefined ? await findOwners(deps, named.blocks) : []
  return succeedWith(
    ...(wallet === undefined ? [] : [`${named.name}: ${describeWallet(wallet)}`]),
    ...formatModerated(owned),
    ...owners.map(
      (owner) => `the owner’s name is still shown; to hide it: pixel-wall hide ${owner} --name --framework`,
    ),
    ...(done.length === owned.length ? [] : [`${done.length - owned.length} blocks have no owner`]),
  )
}

/** The moderated blocks, one line for each group with the same hidden parts. */
function formatModerated(
  owned: readonly { readonly block: BlockIndex; readonly hidden: Hidden; readonly kind: string }[],
) {
  const describeOutcome = ({ hidden, kind }: (typeof owned)[number]) =>
    `${describeHidden(hidden)}${kind === 'unchanged' ? ' (unchanged)' : ''}`
  return [...Map.groupBy(owned, describeOutcome)].map(([words, same]) => {
    const coords = same.slice(0, COORDS_SHOWN).map(({ block }) => formatCoord(block))
    const more = same.length > coords.length ? ` and ${same.length - coords.length} more` : ''
    return `${same.length === 1 ? 'block' : 'blocks'} ${coords.join(' ')}${more}: ${words}`
  })
}

// A list of all blocks of a large area would fill the screen.
const COORDS_SHOWN = 12

async function ban(deps: AdminDeps, { act, target, who, why }: CommandBody<'ban'>): Promise<CommandResult> {
  const named = await parseNamedBlocks(deps, target)
  if (typeof named === 'string') return failWith(named)
  const { name, wallet } = named
  if (wallet === undefined) return failWith(`${name} cannot be banned: give the wallet instead`)
  return succeedWith(`${name}: ${describeWallet(await banWallet(deps, wallet, act, { who, why }))}`)
}

/** The hidden names and the ban of a wallet, for operators. */
function describeWallet(result: WalletActResult): string {
  if (result.kind === 'unknown-wallet') return 'this wallet has not bought a block'
  const parts = NAME_PARTS.filter((part) => result.hidden[part])
  const names = parts.length === 0 ? 'its names are shown' : `hidden: ${parts.join(', ')}`
  return `${names}${result.isBanned ? '; banned' : ''}${result.kind === 'unchanged' ? ' (unchanged)' : ''}`
}

/** The hidden parts of a block, for operators. */
function describeHidden(hidden: Hidden): string {
  const parts = CONTENT_PARTS.filter((part) => hidden[part])
  return parts.length === 0 ? 'everything is shown' : `hidden: ${parts.join(', ')}`
}

async function listHidden(deps: AdminDeps, { isTrail }: CommandBody<'hidden'>): Promise<CommandResult> {
  const blocks = (isTrail ? await listModerationTrail(deps) : await listHiddenNow(deps)).map((act) => {
    const words = `block ${formatCoord(act.block)}: ${describeHidden(act.hidden)}`
    return { at: act.at, text: isTrail ? `left ${words}` : words }
  })
  if (!isTrail) {
    const wallets = await deps.moderation.listWallets()
    return succeedWith(
      ...blocks.map(formatTimedLine),
      ...wallets.map(({ wallet, ...so }) => `wallet ${wallet}: ${describeWallet({ kind: 'applied', ...so })}`),
    )
  }
  const acts = (await deps.moderation.listRecords()).map(({ at, who, act, what, parts, why }) => {
    const reason = why === null ? '' : `: ${why}`
    return { at, text: `${who} ${act} ${what}${parts === '' ? '' : ` (${parts})`}${reason}` }
  })
  // If the times are equal, an action comes before its results.
  return succeedWith(...[...acts, ...blocks].toSorted((one, other) => one.at - other.at).map(formatTimedLine))
}

const formatTimedLine = ({ at, text }: { readonly at: UnixMs; readonly text: string }) =>
  `${new Date(at).toISOString()} ${text}`

function reportStatus({ readOverview }: AdminDeps): CommandResult {
  const seen = readOverview()
  return { ok: seen.sells.ready, lines: formatStatus(seen) }
}

/** Records that a backup was made just now. */
async function recordBackup({ backups, clock }: AdminDeps): Promise<CommandResult> {
  await backups.record(clock.now())
  return succeedWith('recorded as a backup; `status` shows its age')
}

const REPORTED_WORKS_MAX = 20

/** How many artworks wait for a decision, and the most reported artworks, each as a line of JSON. */
async function listReports(deps: AdminDeps): Promise<CommandResult> {
  const { waiting, works } = await listReportedWorks(deps, REPORTED_WORKS_MAX)
  return succeedWith(String(waiting), ...works.map((work) => JSON.stringify(work)))
}

async function closeReportsOfWork(deps: AdminDeps, body: CommandBody<'close-reports'>): Promise<CommandResult> {
  const { target, outcome } = body
  const block = parseCoord(target)
  if (block === undefined) return failWith(`${JSON.stringify(target)} is not a block (column,row)`)
  const closed = await closeReports(deps, block, body)
  if (closed === undefined) return failWith(`nobody owns block ${target}, so there is nothing to report`)
  const what = outcome === 'hidden' ? 'everything on it is hidden' : 'it is left as it is'
  return succeedWith(`the work at ${target} (blocks: ${closed.blocks}): ${what}; reports closed: ${closed.reports}`)
}

/** Payments to check, one per line. */
async function listOpenPurchases({ ledger, clock }: AdminDeps): Promise<CommandResult> {
  const keys = await ledger.listUnfinished(clock.now())
  return succeedWith(...keys.map(({ payer, nonce }) => `${payer} ${nonce}`))
}

async function resolve(deps: AdminDeps, { payer, nonce }: CommandBody<'resolve'>): Promise<CommandResult> {
  const found = await resolvePurchase(deps, parsePaymentKey(payer, nonce))
  if (found === undefined) return failWith('no purchase is recorded for this payment')
  return succeedWith(describeChange(found.before, found.after, found.evidence))
}

async function bookStrayPayment(deps: AdminDeps, { payer, nonce }: CommandBody<'stray'>): Promise<CommandResult> {
  const result = await bookStray(deps, parsePaymentKey(payer, nonce))
  if (result === 'noted') return succeedWith('booked as stray; the wall arms once nothing else prevents it')
  return failWith(result === 'not-owed' ? 'this payment has a purchase, so it is not stray' : PAYOUT_WORDS[result])
}

/**
 * Books all money without a known purchase as stray. If the database is an older copy, such money may come from lost
 * sales, which this command must not hide.
 */
async function bookAllStrays(deps: AdminDeps): Promise<CommandResult> {
  const { restored } = deps
  if (restored.isOlder())
    return failWith(
      'the database is an older copy, so these may be lost sales: stop the wall, then run pixel-wall accept-restore',
    )
  const lines: string[] = []
  for (const { payer, nonce, tx } of restored.listOrphans()) {
    const result = await bookStray(deps, { payer, nonce })
    lines.push(`${payer} ${nonce} in ${tx}: ${result === 'noted' ? 'booked as stray' : PAYOUT_WORDS[result]}`)
    if (result === 'silent') return failWith(...lines)
  }
  return succeedWith(...(lines.length === 0 ? ['there is no money without a known purchase'] : lines))
}

async function recordPayout(
  deps: AdminDeps,
  { payer, nonce, reference }: CommandBody<'payout'>,
): Promise<CommandResult> {
  const result = await bookPayout(deps, parsePaymentKey(payer, nonce), reference)
  const words = PAYOUT_WORDS[result]
  return result === 'noted' ? succeedWith(words) : failWith(words)
}

const PAYOUT_WORDS = {
  noted: 'noted as paid out',
  'noted-before': 'a reference was already recorded, and was kept',
  'not-owed': 'this payment bought a block or an area, or may still buy one: nothing is owed for it',
  'never-paid': 'the chain shows no such payment',
  silent: 'the chain does not respond; try again',
} as const

const parsePaymentKey = (payer: string, nonce: string) => ({
  payer: toLowerAddress(payer),
  nonce: nonce.toLowerCase() as Hash,
})

function describeChange(before: Purchase, after: Purchase, evidence: ChainStatus): string {
  const { payer, nonce } = after.payment
  const [from, to] = [describeState(before), describeState(after)]
  const what = from === to ? from : `${from} -> ${to}`
  const isOpen = after.state.kind === 'reserved' || (after.state.kind === 'released' && !after.state.isFinal)
  const until = new Date(Number(after.payment.validBefore) * 1000).toISOString()
  const end = isOpen && evidence.kind !== 'paid' ? `; it can be paid until ${until}` : ''
  return `${payer} ${nonce} ${describeHolding(after)}: ${what}; the chain: ${describeEvidence(evidence)}${end}`
}

/** A purchase's state, for operators. */
export function describeState({ state }: Purchase): string {
  switch (state.kind) {
    case 'reserved':
      return state.uncertain ? 'held, in doubt' : 'held'
    case 'released':
      return state.isFinal ? 'released for good' : 'released, watched'
    case 'sold':
      return state.settled ? 'sold' : 'sold, not confirmed on the chain yet'
    case 'credited':
      return 'credit owed'
  }
}

/** The state of a payment on the chain, for operators. */
export function describeEvidence(status: ChainStatus): string {
  switch (status.kind) {
    case 'paid':
      return `paid in ${status.tx}`
    case 'void':
      return status.why
    case 'unspent':
      return 'unspent'
    case 'silent':
      return 'no response'
  }
}

const succeedWith = (...lines: string[]): CommandResult => ({ ok: true, lines })
const failWith = (...lines: string[]): CommandResult => ({ ok: false, lines })
