/** Owners, who repaint and rename while others buy: the real use cases on the real engine. */

import { isDeepStrictEqual } from 'node:util'
import { createFailure, StoreUnavailable, isFailure, type Failure } from '../../../../server/domain/failure.ts'
import type { Address } from '../../../../server/domain/purchase/payment.ts'
import type { Change } from '../../../../server/domain/wall/log.ts'
import {
  applyChange,
  toCanvasBlock,
  createEmptyView,
  toFeedPage,
  toRegistry,
  computeStats,
} from '../../../../server/domain/wall/wall-view.ts'
import { makeChange, createRegistration, createBlockRepaint } from '../../../../server/wall/signed-changes.ts'
import { formatEditMessage, formatRegisterMessage } from '../../../../shared/signing.ts'
import { formatCoord, type BlockIndex } from '../../../../shared/wall.ts'
import { unlimited } from '../../../support/fakes/limits.ts'
import { fakeWallets, computeSignature } from '../../../support/fakes/wallets.ts'
import { readSettledResult } from '../../../support/scheduler.ts'
import { Violation } from '../check.ts'
import type { Paint } from '../ledger-model.ts'
import { toAddress } from '../samples.ts'
import type { Server } from '../server.ts'
import { computeTime, type World } from '../world.ts'

const HOST = 'wall.example'

type Sent =
  | { readonly wallet: Address; readonly block: BlockIndex; readonly message: string; readonly ts: number }
  | { readonly wallet: Address; readonly name: string; readonly ts: number }

/** The signed changes that were sent, and the texts of the acknowledged ones. */
export type Studio = { readonly sent: Sent[]; readonly done: Set<string> }

export const createStudio = (): Studio => ({ sent: [], done: new Set() })

/** The block or the wallet that a change is about; changes to one subject are ordered by their times. */
const findSubject = (change: Change) =>
  change.kind === 'repaint' ? `block ${change.block}` : change.kind === 'identity' ? `agent ${change.agent}` : undefined

/** The message or the name in an owner's change. */
const readContent = (change: Change) =>
  change.kind === 'repaint' ? change.content.message : change.kind === 'identity' ? change.profile.name : undefined

const getSentText = (sent: Sent): string => ('message' in sent ? sent.message : sent.name)

/** An owner signs and sends a change, or resends an earlier one. */
export function sendChange(
  world: World,
  { sent, done }: Studio,
  server: Server,
  wall: readonly BlockIndex[],
  failed: (error: unknown) => void,
): void {
  const { prng } = world
  const chosen = sent.length > 0 && prng.nextBoolean(0.3) ? prng.pick(sent) : signChange(world, sent.length, wall)
  if (!sent.includes(chosen)) sent.push(chosen)
  const recordAnswer = (answer: object) => {
    if (!isFailure(answer)) done.add(getSentText(chosen))
  }
  sendToServer(server, chosen).then(recordAnswer, (error: unknown) => {
    if (!(error instanceof StoreUnavailable)) failed(error)
  })
}

function signChange({ prng, ...world }: World, number: number, wall: readonly BlockIndex[]): Sent {
  const wallet = toAddress(1 + prng.nextInt(3))
  const ts = computeTime({ prng, ...world }) - prng.nextInt(10_000)
  if (prng.nextBoolean(0.3)) return { wallet, name: `name ${number}`, ts }
  return { wallet, block: prng.pick(wall), message: `paint ${number}`, ts }
}

async function sendToServer({ paint, follower, clock }: Server, sent: Sent): Promise<object | Failure> {
  if (paint === undefined || follower === undefined) return createFailure('server_busy', 'closed')
  const shared = { ...paint, ...follower, wallets: fakeWallets, clock, hosts: [HOST], limits: unlimited }
  const { wallet, ts } = sent
  if ('name' in sent) {
    const signature = computeSignature(wallet, formatRegisterMessage(HOST, wallet, ts, { name: sent.name }))
    return await makeChange(
      shared,
      await createRegistration(shared, wallet, { name: sent.name }),
      { ts, signature },
      'owner',
    )
  }
  const coord = formatCoord(sent.block)
  const signature = computeSignature(wallet, formatEditMessage(HOST, coord, ts, { message: sent.message }))
  const change = await createBlockRepaint(shared, coord, { message: sent.message })
  return await makeChange(shared, change, { ts, signature }, 'owner')
}

/** Compares the log, the blocks and every view of them with the acknowledged changes. */
export function checkPaint(paint: Paint, { sent, done }: Studio, follower: Server['follower']): void {
  const log = readSettledResult(paint.log.readAfter(0, 1000))
  const written = log.flatMap((change) => readContent(change) ?? [])
  for (const word of sent.map(getSentText)) {
    const times = written.filter((other) => other === word).length
    if (times > 1) throw new Violation(`a change is applied once: ${word}`)
    if (times === 0 && done.has(word)) throw new Violation(`a change that was acknowledged is applied: ${word}`)
  }
  // No owner in the simulation has a fast clock, so the changes of a subject must be in the order of their times.
  for (const [of, changes] of Map.groupBy(log, findSubject)) {
    const times = changes.flatMap((change) => sent.find((each) => getSentText(each) === readContent(change))?.ts ?? [])
    if (of !== undefined && times.some((ts, at) => ts < (times[at - 1] ?? ts)))
      throw new Violation(`a change that was signed earlier does not undo a later one: ${of}`)
  }
  const views = [log, readSettledResult(paint.log.readCompacted())].map(replayChanges)
  if (!isDeepStrictEqual(views[0], views[1]))
    throw new Violation('the compacted log and the full log show the same wall')
  if (follower !== undefined && !isDeepStrictEqual(views[0], collectVisibleState(follower.view)))
    throw new Violation('the view of the server equals the log')
  for (const block of new Set(log.flatMap((change) => ('block' in change ? [change.block] : [])))) {
    const last = log.findLast((change) => 'block' in change && change.block === block)
    const owned = readSettledResult(Promise.resolve(paint.blocks.findOwned(block)))
    if (last === undefined || !('content' in last) || owned?.content.message !== last.content.message)
      throw new Violation('a block shows its last change')
  }
}

function replayChanges(changes: readonly Change[]): object {
  const view = createEmptyView()
  for (const change of changes) applyChange(view, change)
  return collectVisibleState(view)
}

const collectVisibleState = (view: ReturnType<typeof createEmptyView>): object => ({
  stats: computeStats(view),
  agents: toRegistry(view),
  feed: toFeedPage(view, { after: 0, limit: 100 }),
  blocks: [...view.claimed.keys()].map((block) => toCanvasBlock(view, block)),
})
