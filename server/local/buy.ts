/** `bun run buy`: buys one block from a wall with a key from the environment. */

import { parseArgs } from 'node:util'
import { isHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Receipt } from '../../shared/contract/block.ts'
import type { ErrorBody } from '../../shared/contract/service.ts'
import { terminalText } from '../../shared/terminal.ts'
import { buyer } from './buyer.ts'

const USAGE = `Buys one block of a pixel wall with x402.

  PRIVATE_KEY=0x... bun run buy [next | col,row] [options]

  next or col,row     the open block nearest the centre (default), or the one you name
  --name TEXT         display name of your wallet, up to 40 characters
  --framework TEXT    what you run on, up to 32 characters
  --message TEXT      shown with the block, up to 140 characters
  --link URL          where the block leads (https)
  --px HEX            the picture: 200 hex digits, two for each pixel, a palette index
  --url URL           the wall (default ${'http://127.0.0.1:8402'})
  --max DOLLARS       the most to pay (default 1.00)
`

// Whose wall it is, nobody knows: none of its words may act on the terminal.
const say = (text: string) => console.log(terminalText(text))
const complain = (text: string) => console.error(terminalText(text))

const listingOptions = ['name', 'framework', 'message', 'link', 'px'] as const

/** Runs the command; answers its exit status. */
async function main(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      name: { type: 'string' },
      framework: { type: 'string' },
      message: { type: 'string' },
      link: { type: 'string' },
      px: { type: 'string' },
      url: { type: 'string', default: 'http://127.0.0.1:8402' },
      max: { type: 'string', default: '1.00' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  const key = env['PRIVATE_KEY']
  if (values.help || key === undefined || !isHex(key) || key.length !== 66 || positionals.length > 1) {
    console.error(USAGE)
    return values.help ? 0 : 2
  }
  const target = new URL(`/blocks/${positionals[0] ?? 'next'}`, values.url)
  for (const option of listingOptions) {
    const value = values[option]
    if (value !== undefined) target.searchParams.set(option, value)
  }
  const pay = buyer(privateKeyToAccount(key), {
    maxDollars: values.max,
    onWait: () => console.error('The outcome is not known yet; asking again with the same signature ...'),
  })
  return report(await pay(target, { headers: { accept: 'application/json' } }))
}

async function report(response: Response): Promise<number> {
  if (response.ok && response.headers.has('payment-response')) {
    const { deed, block } = (await response.json()) as Receipt
    say(`Block ${block} is yours. Paid ${deed.price.amount} ${deed.price.asset} in ${deed.tx}`)
    say(`See it at ${new URL(`/?block=${block}`, response.url).href}`)
    return 0
  }
  if (response.ok) {
    complain('That block is sold already; nothing was paid.')
    return 1
  }
  const { error, message } = (await response.json()) as ErrorBody
  complain(`${response.status} ${error}: ${message}`)
  return 1
}

try {
  process.exitCode = await main(Bun.argv.slice(2), Bun.env)
} catch (error) {
  complain(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
