/** Agents that buy from the demo's wall, each with a picture, a wallet and one payment. */

import type { AreaReceipt, Wall } from '../client/wall.ts'
import { wall as wallAt, WallError } from '../client/wall.ts'
import { KEY, LATE, LIT, loadPicture, SIGN, WORKS, type Work } from './gallery.ts'
import type { LocalNetwork } from './network.ts'

/** The inputs of the exhibition: a chain that mints dollars, a wall, and a folder for the agents' signed payments. */
export type Venue = {
  readonly network: Pick<LocalNetwork, 'createFundedWallet' | 'readBalance'>
  readonly url: string
  readonly folder: string
  readonly print: (line: string) => void
}

/** A work on the wall, with its owner's client for the wall. */
type Exhibit = { readonly wall: Wall; readonly receipt: AreaReceipt }

/** Buys every picture except the late one, in a few seconds; returns how many blocks they take. */
export async function buildExhibition(venue: Venue): Promise<number> {
  const { print } = venue
  print(`${SIGN.name} wants a sign in the middle of the wall, ${SIGN.w} by ${SIGN.h} blocks,`)
  const sign = await buyWork(venue, SIGN)
  const { area, deed } = sign.receipt
  print(
    `  gets 402 with the price, signs ${deed.price.amount} ${deed.price.asset} once, sends the request again, and owns ${area} (${deed.tx.slice(0, 10)}…).`,
  )
  print(`\n${WORKS.length} more agents arrive at the same time, each with a picture and one payment:`)
  const [hung] = await Promise.all([buyAllWorks(venue), raceForBlock(venue)])
  print(`\n${SIGN.name} switches the sign on: ${SIGN.w * SIGN.h} blocks repainted for free, with one signature.`)
  const { w, h } = LIT
  await sign.wall.repaintArea(area, { pixels: await sign.wall.areaPixels(await loadPicture(LIT), { w, h }) })
  return [sign, ...hung].reduce((sum, { receipt }) => sum + receipt.blocks.length, 1)
}

/** Buys the picture that arrives while somebody watches. */
export async function buyLateWork(venue: Venue): Promise<void> {
  const { receipt } = await buyWork(venue, LATE)
  venue.print(`${LATE.name} has just arrived, with a picture of ${LATE.w} by ${LATE.h} blocks at ${receipt.area}.`)
}

async function buyWork(venue: Venue, work: Work): Promise<Exhibit> {
  const { col, row, w, h, picture: _, ...listing } = work
  const wall = await createClient(venue, w * h)
  return {
    wall,
    receipt: await wall.buyArea({ at: `${col},${row}`, w, h, image: await loadPicture(work), ...listing }),
  }
}

/** A client for the wall, with a new wallet that holds this many dollars. */
async function createClient({ network, url, folder }: Venue, dollars: number): Promise<Wall> {
  return wallAt(url, { account: await network.createFundedWallet(dollars), folder, maxDollars: dollars.toFixed(2) })
}

async function buyAllWorks(venue: Venue): Promise<Exhibit[]> {
  return await Promise.all(
    WORKS.map(async (work) => {
      const hung = await buyWork(venue, work)
      venue.print(`  ${work.name} owns ${work.w * work.h} blocks at ${hung.receipt.area}: ${work.message}`)
      return hung
    }),
  )
}

const RACERS = ['Euler', 'Fermat', 'Gauss']

/** Several agents want the same block at the same moment: one gets it, and the others pay nothing. */
async function raceForBlock(venue: Venue): Promise<void> {
  const { network, url, folder, print } = venue
  const block = `${KEY.col},${KEY.row}`
  const { blocks } = await wallAt(url).pixels(await loadPicture(KEY), {})
  const px = blocks[0]?.px ?? ''
  const ends = RACERS.map(async (name) => {
    const account = await network.createFundedWallet(2)
    const refusal = await wallAt(url, { account, folder })
      .buy(block, { name, message: KEY.message, px })
      .then(() => undefined, toRefusal)
    const left = `${(Number(await network.readBalance(account.address)) / 1_000_000).toFixed(2)} of 2.00 left`
    return refusal === undefined
      ? `${name} gets it, with ${left}`
      : `${name} is rejected (${refusal.code}), with ${left}`
  })
  print(`  ${RACERS.join(', ')} all want block ${block}: ${(await Promise.all(ends)).join('; ')}.`)
}

/**
 * The refusal of a block that somebody else got. If a facilitator saw the payment, the money may still move for some
 * minutes, so the outcome is unknown.
 */
function toRefusal(error: unknown): WallError {
  if (error instanceof WallError && (error.kind === 'refused' || error.kind === 'unknown')) return error
  throw error
}
