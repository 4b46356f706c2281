import type { Wall, WalletStanding } from '../wall.ts'
import type { Command } from './command.ts'

/** `pixel-wall mine`: what a wallet owns, waits for and is owed. */
export const mine: Command = {
  summary: 'lists what your wallet owns, waits for and is owed',
  usage: '',
  options: { wallet: 'the address, instead of a key' },
  argumentsMax: 0,
  async run({ options: { wallet }, reader, owner, print }) {
    const wall = wallet === undefined ? await owner() : reader()
    const standing = await wholeStanding(wall, wallet)
    if (standing === undefined)
      return print({ blocks: [], open: [], credits: [] }, ['This wallet has bought nothing here yet.'])
    const { name, blocks, open, credits } = standing
    print(standing, [
      `${name ?? standing.wallet} owns ${blocks.length === 1 ? 'one block' : `${blocks.length} blocks`}.`,
      ...blocks.map(({ block, tx }) => `  ${block.coord}, paid in ${tx}`),
      ...open.map(({ target, next }) => `Not finished: ${target}. ${next}`),
      ...credits.map(({ amount, tx }) => `Owed to you: ${amount} atomic units of USDC, paid in ${tx}.`),
    ])
  },
}

/** What a wallet has, its blocks from all pages. */
async function wholeStanding(wall: Wall, wallet?: string): Promise<WalletStanding | undefined> {
  const standing = await wall.wallet(wallet)
  if (standing === undefined) return undefined
  const blocks = [...standing.blocks]
  for (let page: WalletStanding | undefined = standing; page?.hasMore === true;) {
    page = await wall.wallet(wallet, page.nextAfter)
    blocks.push(...(page?.blocks ?? []))
  }
  return { ...standing, blocks, hasMore: false }
}
