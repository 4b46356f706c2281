/** Whether an address has code: looked up on the chain, cached, and limited in rate, because anybody can cause a look-up. */

import type { PublicClient } from 'viem'
import { lru } from '../../../shared/lru.ts'
import type { Address } from '../../domain/purchase/payment.ts'
import { tokenBuckets, type Budget } from '../../domain/token-bucket.ts'
import type { Clock } from '../../ports.ts'
import type { BoundedCalls } from '../bounded-calls.ts'

/**
 * Who is asked about, and for whom: owners of blocks, of whom there are few, for somebody who may be one or for a suspect;
 * or payers, whom anybody can invent.
 */
export type Lane = 'owner' | 'suspect' | 'payer'

export type ContractCode = {
  /** Whether there is code at an address; `busy` and `silent` when that cannot be told now. */
  has(wallet: Address, lane: Lane): Promise<boolean | 'busy' | 'silent'>
  /** Forgets that there was none: it is about to be deployed. */
  forget(wallet: Address): void
}

// Twenty look-ups in any second, in all. Owners have a share that no flood of payments can use up.
const LOOK_UPS: Readonly<Record<Lane, Budget>> = {
  owner: { burst: 3, perSecond: 2 },
  suspect: { burst: 4, perSecond: 1 },
  payer: { burst: 3, perSecond: 7 },
}

// Addresses of either kind that are remembered, some hundred bytes each.
const REMEMBERED_MAX = 4096

// A wallet may be deployed at any moment, and must not be denied for long then.
const NO_CODE_KEPT_MS = 10_000

/** Looks up code through `client`. */
export function contractCode(
  client: PublicClient,
  calls: BoundedCalls,
  { elapsed }: Pick<Clock, 'elapsed'>,
): ContractCode {
  const lookUps = {
    owner: tokenBuckets(LOOK_UPS.owner, 1),
    suspect: tokenBuckets(LOOK_UPS.suspect, 1),
    payer: tokenBuckets(LOOK_UPS.payer, 1),
  }
  const withCode = lru<Address, true>(REMEMBERED_MAX)
  const seenWithout = lru<Address, number>(REMEMBERED_MAX)
  const underWay = new Map<Address, ReturnType<ContractCode['has']>>()

  const lookUp = async (wallet: Address) => {
    const code = await calls.make(() => hasCodeNow(client, wallet))
    if (code === true) withCode.set(wallet, true)
    if (code === false) seenWithout.set(wallet, elapsed())
    return code
  }

  const has: ContractCode['has'] = async (wallet, lane) => {
    // Where there was code there may be none any more, which the question that follows tells.
    if (withCode.get(wallet) === true) return true
    const seenAt = seenWithout.get(wallet)
    if (seenAt !== undefined && elapsed() - seenAt < NO_CODE_KEPT_MS) return false
    const same = underWay.get(wallet)
    if (same !== undefined) return await same
    if (calls.areFull() || lookUps[lane].take(lane, elapsed()) > 0) return 'busy'
    const answer = lookUp(wallet).finally(() => underWay.delete(wallet))
    underWay.set(wallet, answer)
    return await answer
  }
  return { has, forget: seenWithout.delete }
}

async function hasCodeNow(client: PublicClient, wallet: Address): Promise<boolean> {
  const code = await client.request({ method: 'eth_getCode', params: [wallet, 'latest'] }, ONCE)
  if (typeof code !== 'string' || !code.startsWith('0x')) throw new TypeError('no code, and not the word for none')
  return code !== '0x'
}

/** How a call is made that is not to be repeated where it fails: it is the first to be left out. */
export const ONCE = { retryCount: 0 } as const
