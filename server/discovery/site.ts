/** The inputs of every document: the offer, the operator and the tools. They never include the request or the clock. */

import manifest from '../../package.json'
import { ASSET_SYMBOL, formatMoney } from '../../shared/money.ts'
import { BLOCK_SIZE, HEIGHT, TOTAL_BLOCKS, WIDTH } from '../../shared/wall.ts'
import type { Offer } from '../x402/terms.ts'
import { PATHS } from './links.ts'
import type { Operation } from './openapi/operation.ts'

/** A tool, as the documents describe it. */
type ToolMetadata = { readonly name: string; readonly title: string }

/** The inputs of the documents. */
export type Site = {
  readonly offer: Offer
  readonly contact: string | null // the operator's contact, from the settings
  readonly tools: readonly ToolMetadata[]
  readonly operations: readonly Operation[]
}

/** The price of a block. */
export const formatBlockPrice = ({ offer }: Pick<Site, 'offer'>): string => formatMoney(offer.terms.amount)

/** The wall's icon, in the form that MCP uses. */
export const listIcons = ({ baseUrl }: Pick<Offer, 'baseUrl'>) => [
  { src: baseUrl + PATHS.faviconSvg, mimeType: 'image/svg+xml', sizes: ['any'] },
]

/** The version of the service. */
export const VERSION = manifest.version

/** One line for lists that allow a hundred characters. */
export const renderTagline = (site: Pick<Site, 'offer'>): string =>
  `A public ${WIDTH}x${HEIGHT} billboard. Agents buy its ${BLOCK_SIZE}x${BLOCK_SIZE} blocks for ${formatBlockPrice(site)} USD over x402.`

/**
 * The advice that the texts for agents begin with, because clients whose spend cap is below the price fail without an
 * error.
 */
export const renderSpendCap = (site: Site): string => `your client's spend cap must allow ${formatBlockPrice(site)} USD`

/** The host name in the texts that owners sign: that of the service's URL, without a port. */
export const readHostName = ({ offer }: Site): string => new URL(offer.baseUrl).hostname

/** A description of the product, in a sentence or two. */
export const renderPitch = ({ offer }: Site): string =>
  `${offer.title} is a public billboard of ${WIDTH} x ${HEIGHT} pixels, divided into ${TOTAL_BLOCKS} blocks of ${BLOCK_SIZE} x ${BLOCK_SIZE}. Software agents buy blocks over x402 v2, ${formatBlockPrice({ offer })} USD each (${offer.terms.amount} atomic units of ${ASSET_SYMBOL} on ${offer.terms.network}; the facilitator pays the gas), and repaint their own for free with a signature. Reading is free.`

const mailPattern = /^[^\s@:/]+@[^\s@/]+\.[^\s@/]+$/
const uriPattern = /^(?:https|mailto|tel):\S+$/i

/** The operator's contact as a URI; `undefined` if there is none or it is prose. */
export function formatContactUri({ contact }: Site): string | undefined {
  const text = contact?.trim() ?? ''
  if (mailPattern.test(text)) return `mailto:${text}`
  return uriPattern.test(text) && URL.canParse(text) ? text : undefined
}

/** Escapes text for HTML, between tags or in a quoted attribute. */
export const escapeMarkup = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
