/** Hides parts of blocks from every reader, or shows them again, and lists these actions. */

import { formatArea, listAreaBlocks, parseArea } from '../../shared/area.ts'
import { formatCoord, parseCoord, type BlockIndex } from '../../shared/wall.ts'
import { truncateWallet } from '../../shared/wallet.ts'
import type { Address } from '../domain/purchase/payment.ts'
import type { Change, Hidden, ModerationChange } from '../domain/wall/log.ts'
import type {
  ContentPart,
  ModerationAct,
  ModerationResult,
  NamePart,
  WalletActResult,
} from '../domain/wall/moderation.ts'
import type { Clock, Logger, Log, Moderation } from '../ports.ts'

export type ModerateDeps = {
  readonly moderation: Moderation
  readonly log: Pick<Log, 'readCompacted'>
  readonly clock: Clock
  readonly logger: Logger
  readonly applyNewEntries: () => Promise<void>
}

/** Blocks that the operator names together: one block, an area, or all that a wallet has bought so far. */
export type NamedBlocks = { readonly name: string; readonly blocks: readonly BlockIndex[]; readonly wallet?: Address }

/**
 * Parses what an operator names: `column,row`, `column,row,WxH`, or a wallet, in full or as readers see it. Returns the
 * reason in words if the text is none of these.
 */
export async function parseNamedBlocks(
  { log }: Pick<ModerateDeps, 'log'>,
  text: string,
): Promise<NamedBlocks | string> {
  const block = parseCoord(text)
  if (block !== undefined) return { name: `block ${formatCoord(block)}`, blocks: [block] }
  const area = parseArea(text)
  if (area !== undefined) return { name: `area ${formatArea(area)}`, blocks: listAreaBlocks(area) }
  if (!WALLET.test(text))
    return `${JSON.stringify(text)} is not a block (column,row), an area (column,row,WxH) or a wallet`
  const sales = (await log.readCompacted()).filter((change) => change.kind === 'sale')
  const isMeant = createWalletMatcher(text)
  const wallets = new Set(sales.map(({ wallet }) => wallet).filter(isMeant))
  const [wallet] = wallets
  if (wallet === undefined) return `no wallet ${text} has bought a block`
  if (wallets.size > 1)
    return `${wallets.size} wallets are shown as ${text}; give one in full: ${[...wallets].join(', ')}`
  const blocks = sales.filter((sale) => sale.wallet === wallet).map((sale) => sale.block)
  return { name: `wallet ${wallet}`, blocks, wallet }
}

/** The wallets that own any of the given blocks. */
export async function findOwners(
  { log }: Pick<ModerateDeps, 'log'>,
  blocks: readonly BlockIndex[],
): Promise<readonly Address[]> {
  const sales = (await log.readCompacted()).filter((change) => change.kind === 'sale')
  return [...new Set(sales.filter(({ block }) => blocks.includes(block)).map(({ wallet }) => wallet))]
}

// An address in full, or shortened with an ellipsis or with three typed dots.
const WALLET = /^0x[0-9a-f]{4}(?:[0-9a-f]{36}|(?:…|\.\.\.)[0-9a-f]{4})$/i

const createWalletMatcher = (text: string) => {
  const wanted = text.replace('...', '…').toLowerCase()
  return (wallet: Address) => wallet === wanted || truncateWallet(wallet).toLowerCase() === wanted
}

/** The results of an action, block by block. */
export type Moderated = readonly { readonly block: BlockIndex; readonly result: ModerationResult }[]

/** The person who acts, and the reason. */
export type Reason = { readonly who: string; readonly why: string | null }

/**
 * Hides or shows parts. Once this resolves, this process's view has no hidden parts; other processes and the published
 * reads follow within seconds.
 */
export async function moderateBlocks(
  { moderation, clock, logger, applyNewEntries }: ModerateDeps,
  { name, blocks, wallet }: NamedBlocks,
  act: ModerationAct,
  { parts, names }: Withheld,
  reason: Reason,
): Promise<{ readonly blocks: Moderated; readonly wallet: WalletActResult | undefined }> {
  await moderation.recordAct({ at: clock.now(), act, what: name, parts: [...parts, ...names].join(), ...reason })
  const isOfWallet = wallet !== undefined && names.length > 0
  const named = isOfWallet ? await moderation.moderateWallet(wallet, { act, parts: names }, clock.now()) : undefined
  const done: { block: BlockIndex; result: ModerationResult }[] = []
  if (parts.length > 0)
    for (const block of blocks) done.push({ block, result: await moderation.moderate(block, act, parts, clock.now()) })
  const changed = done.filter(({ result }) => result.kind === 'applied').length
  if (changed > 0 || named?.kind === 'applied') await applyNewEntries()
  logger.note(act, { what: name, blocks: changed, parts: [...parts, ...names].join(), who: reason.who })
  return { blocks: done, wallet: named }
}

/** The parts that an action hides or shows: parts of blocks, and names of their wallet. */
export type Withheld = { readonly parts: readonly ContentPart[]; readonly names: readonly NamePart[] }

/** Bans a wallet, so that its future content is hidden, or ends the ban. */
export async function banWallet(
  { moderation, clock, logger }: ModerateDeps,
  wallet: Address,
  act: 'ban' | 'unban',
  reason: Reason,
): Promise<WalletActResult> {
  const what = `wallet ${wallet}`
  await moderation.recordAct({ at: clock.now(), act, what, parts: '', ...reason })
  logger.note(act, { what, who: reason.who })
  return await moderation.moderateWallet(wallet, { act }, clock.now())
}

/** Every action of the operator on the content of blocks, oldest first: the log keeps them all. */
export async function listModerationTrail({ log }: Pick<ModerateDeps, 'log'>): Promise<readonly Act[]> {
  return (await log.readCompacted()).filter(isAct)
}

/** One action on a block, with the parts of the block that are hidden after it. */
export type Act = Extract<Change, ModerationChange>

const isAct = (change: Change): change is Act => change.kind === 'hide' || change.kind === 'unhide'

/** The parts that are hidden now, by the latest action on each block, in the order of these actions. */
export async function listHiddenNow(deps: Pick<ModerateDeps, 'log'>): Promise<readonly Act[]> {
  const latest = new Map<BlockIndex, Act>()
  for (const act of await listModerationTrail(deps)) {
    latest.delete(act.block)
    if (isAnythingHidden(act.hidden)) latest.set(act.block, act)
  }
  return [...latest.values()]
}

const isAnythingHidden = ({ pixels, message, link }: Hidden) => pixels || message || link
