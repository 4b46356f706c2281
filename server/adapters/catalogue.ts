/** The entries of a facilitator's catalogue for a payment address: `GET {catalogue}/discovery/merchant?payTo=`. */

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Catalogue } from '../operator-ports.ts'
import type { Offer } from '../x402/terms.ts'
import { fetchBounded, parseHttpAddress } from './bounded-calls.ts'

/** The resources that a catalogue lists for a payment address. */
export const Merchant = Type.Object({
  resources: Type.Array(Type.Object({ resource: Type.String({ maxLength: 2000 }) })),
})

/** The path of a merchant's entries, relative to the catalogue's URL. */
export const formatMerchantPath = (payTo: string): string => `/discovery/merchant?payTo=${payTo}&limit=100`

/** Time and size limits of a catalogue's response. */
export const CATALOGUE_BOUNDS = { timeoutMs: 60_000, maxBytes: 4 * 1024 * 1024 }

/** An address in the form that catalogues compare: without a query, and with one template for all blocks. */
export const toCatalogueAddress = (address: string): string =>
  address.replace(/\?.*$/, '').replace(/\/(?:\d+,\d+|[:{][^/]*)$/, '/*')

/** The catalogue of the facilitator at a URL. */
export function openCatalogue(facilitatorUrl: string, { baseUrl, terms }: Offer): Catalogue {
  const { url, host } = parseHttpAddress(facilitatorUrl)
  const address = url.replace(/\/$/, '') + formatMerchantPath(terms.payTo)
  return {
    host,
    async countListed() {
      const response = await fetchBounded(address, {}, CATALOGUE_BOUNDS).catch(() => undefined)
      if (response === undefined || response.status >= 500 || response.status === 429) return 'silent'
      const value: unknown = await response.json().catch(() => undefined)
      if (!response.ok || !Value.Check(Merchant, value)) return 'none'
      const own = value.resources.filter(({ resource }) => resource.startsWith(`${baseUrl}/`))
      return new Set(own.map(({ resource }) => toCatalogueAddress(resource))).size
    },
  }
}
