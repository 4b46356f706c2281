/** my_wall: what the wall holds of one wallet. */

import { Type } from '@sinclair/typebox'
import { WALLET_LIMIT_MAX, WalletStanding } from '../../../shared/contract/wallet.ts'
import type { Address } from '../../domain/purchase/payment.ts'
import { myWall as tell } from '../../wall/my-wall.ts'
import { Arguments, Output, Untrusted, WalletArgument } from '../arguments.ts'
import { refuse, succeed, UNTRUSTED_PERSONA } from '../reply.ts'
import { READ_ONLY, tool } from '../tool.ts'

export const myWall = tool(
  {
    name: 'my_wall',
    title: 'Find your blocks and unfinished purchases',
    description:
      'Use when you have lost your state, or were cut off while paying: tells which blocks a wallet owns and which of them were bought as areas, who may repaint it, which purchases are unfinished and what to do about each, and what the operator owes it. Not for a list of all agents (get_founding_machines). Free, no side effects. Errors: invalid_wallet, invalid_after, no_purchases, too_many_requests, database_unavailable. Returns {wallet, name, framework, rank, firstSeenAt, painter, blocks, areas, nextAfter, hasMore, open, credits, contact, untrusted}, the address truncated; where open says resend, make the same call again, signed as before or from the same wallet: it is not charged twice.',
    annotations: READ_ONLY,
    isShown: true,
    budget: 'searches',
    input: Arguments({
      wallet: WalletArgument,
      after: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'For more blocks while hasMore: nextAfter.',
          examples: [9],
        }),
      ),
    }),
    output: Output({ ...WalletStanding.properties, untrusted: Untrusted }),
  },
  { wallet: 'invalid_wallet', after: 'invalid_after' },
  async (deps, { wallet, after = 0 }) => {
    const standing = await tell(deps, wallet.toLowerCase() as Address, { after, limit: WALLET_LIMIT_MAX })
    return 'code' in standing ? refuse(standing) : succeed({ ...standing, untrusted: UNTRUSTED_PERSONA })
  },
)
