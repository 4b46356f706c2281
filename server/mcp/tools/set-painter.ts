/** set_painter: a wallet names the key that may repaint for it. */

import { PainterAnswer } from '../../../shared/contract/agent.ts'
import { PainterText, SignatureText } from '../../../shared/contract/block.ts'
import { Nullable } from '../../../shared/contract/kinds.ts'
import { makeChange } from '../../wall/make-change.ts'
import { painterNaming } from '../../wall/signed-changes.ts'
import { Arguments, argumentsIn, Output, SignedAt, WalletArgument } from '../arguments.ts'
import { refuse, succeed } from '../reply.ts'
import type { Tool } from '../tool.ts'

export const setPainter: Tool = {
  name: 'set_painter',
  title: 'Name the key that may repaint for your wallet',
  description:
    'Use to let another key sign repaints of all your blocks (set_pixels, set_area), and nothing else, so that the wallet that pays can stay locked away. Get the exact text from signing_message (kind set_painter), sign it with that wallet (EIP-191 personal_sign) and send the same ts and values here. Not to name one for the blocks of one purchase (painter of buy_block). Free. Side effect: ends every naming before, those of purchases included. Errors: unauthorized (expected holds the text that should have been signed), stale_signature, invalid_body, invalid_wallet, invalid_painter, no_purchases, server_busy, too_many_requests, database_unavailable. Returns {updated}; my_wall shows who is named.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  input: Arguments({
    wallet: WalletArgument,
    ts: SignedAt,
    signature: { ...SignatureText, description: 'EIP-191 personal_sign over the text by the wallet, 0x and hex.' },
    painter: { ...Nullable(PainterText), description: 'The address that may repaint; null for nobody.' },
  }),
  output: Output(PainterAnswer.properties),
  async answer({ changing, readPainterNaming }, given, { address }) {
    const body = readPainterNaming(argumentsIn(given))
    if ('code' in body) return refuse(body)
    const change = await painterNaming(changing, body.wallet, body.painter)
    const result = await makeChange(changing, change, body, address)
    return 'code' in result ? refuse(result) : succeed(result)
  },
}
