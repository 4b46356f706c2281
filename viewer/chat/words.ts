/**
 * The view's sentence about a proposal, and the message that the view's button sends to the model. Pure. Neither
 * contains untrusted text.
 */

import { ASSET_SYMBOL, formatCount } from '../../shared/money.ts'
import { TOTAL_BLOCKS } from '../../shared/wall.ts'
import { countCoveredBlocks, chooseDeal } from '../studio/order/cost-summary.ts'
import { getArea, type Sketch } from '../studio/sketch.ts'
import { formatPlace } from './proposal.ts'

/** The subject: a sketch, whose size and position may be unknown. `perBlock` is a price with two decimals. */
export type Shown = {
  readonly sketch: Sketch
  readonly hasSize: boolean
  readonly hasPlace: boolean
  readonly perBlock: string
  readonly host: string // of the wall
  readonly isCutOff?: boolean // whether the chat blocks the view's requests to the wall
}

/** A sentence for the user, and the button: its label and the message that it sends. */
export type Offer = { readonly says: string; readonly label: string; readonly message: string }

const CUT_OFF =
  'This view could not read the wall, perhaps because this chat does not allow it, so no artworks are shown.'

/** The sentence and the button for a subject. */
export function createOffer(shown: Shown): Offer {
  const offer = chooseOffer(shown)
  return shown.isCutOff === true ? { ...offer, says: `${offer.says} ${CUT_OFF}` } : offer
}

function chooseOffer({ sketch, hasSize, hasPlace, perBlock, host }: Shown): Offer {
  const { wall, size, painted } = sketch
  const wallName = `the pixel wall at ${host}`
  const sides = `${size.w}x${size.h} blocks`
  const count = size.w * size.h === 1 ? '1 block' : `${size.w * size.h} blocks`
  const price = `${(size.w * size.h * Number(perBlock)).toFixed(2)} ${ASSET_SYMBOL}`
  const findRoom = { label: 'Find available space', message: `Find available space for ${sides} on ${wallName}.` }
  if (!hasSize) {
    const sold = wall?.complete
      ? `${formatCount(wall.stats.claimed)} of ${formatCount(TOTAL_BLOCKS)} blocks sold. `
      : ''
    return {
      says: `${sold}A block costs ${perBlock} ${ASSET_SYMBOL}.`,
      label: 'Add a picture',
      message: `I want to put a picture on ${wallName}. Ask me for the picture and its size, then find available space for it.`,
    }
  }
  if (!hasPlace) return { says: `Picture of ${sides}: ${price}. Not placed yet.`, ...findRoom }
  const place = formatPlace(getArea(sketch))
  const deal = wall?.complete ? chooseDeal(sketch) : 'buy'
  if (deal === 'repaint') {
    const how = painted === undefined ? 'Ask me for the picture.' : 'Use the picture from your last call.'
    return { says: `You own ${place}.`, label: 'Repaint', message: `Repaint ${place} on ${wallName}. ${how}` }
  }
  if (deal === 'neither') {
    const { others, mine } = countCoveredBlocks(sketch)
    return { says: `${place}: ${others + mine} of ${count} ${others + mine === 1 ? 'is' : 'are'} taken.`, ...findRoom }
  }
  const says = `${place}, ${count}, ${wall?.complete ? 'available: ' : ''}${price}.`
  if (painted === undefined)
    return {
      says: `${says} No picture yet.`,
      label: 'Show my picture here',
      message: `Show me my picture at ${place} on ${wallName} with preview_block, before you buy anything. Use the picture from this chat, or ask me for one.`,
    }
  return {
    says,
    label: `Buy for ${price}`,
    message: `Buy ${place} on ${wallName} for ${price}. Use the picture from your last call.`,
  }
}
