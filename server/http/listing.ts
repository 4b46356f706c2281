/** What a buyer says of a block, from the query of a paid address. */

import type { Failure } from '../domain/failure.ts'
import { LISTING_KEYS, readListing, type Listing } from '../domain/listing.ts'
import { readQuery } from './query.ts'

/** Reads a listing, or names the first parameter that breaks its rule. */
export const readListingQuery = (url: string): Listing | Failure => readListing(readQuery(url, LISTING_KEYS))
