/** Reads the listing that a buyer gives in the query of a purchase. */

import { nearest } from '../../../shared/nearest.ts'
import { failure, type Failure } from '../../domain/failure.ts'
import { LISTING_KEYS, readListing, type Listing, type ListingKey } from '../../domain/purchase/listing.ts'
import { readQuery, strangerIn } from './query.ts'
import { queryOf } from './request-url.ts'

// Longer than any valid listing. The query is repeated in a response header, which must stay small.
const QUERY_MAX = 4096

/** Reads a listing, or refuses the first parameter that is invalid or unknown. */
export function readListingQuery(url: string): Listing | Failure {
  if (queryOf(url).length > QUERY_MAX) return refuse(`The query is longer than ${QUERY_MAX} characters.`)
  const stranger = strangerIn(url, LISTING_KEYS)
  return stranger === undefined ? readListing(readQuery(url, LISTING_KEYS)) : refuse(unknown(stranger))
}

const refuse = (what: string) => failure('invalid_listing', `${what} Nothing was charged.`)

/** Unknown parameters are refused, since a misspelt one would sell a block without its text or picture. */
function unknown(name: string): string {
  const known = `A block takes ${LISTING_KEYS.join(', ')}.`
  if (!namePattern.test(name)) return `There is a parameter that a block does not take. ${known}`
  const meant = nearestTo(name.toLowerCase())
  return `There is no parameter ${name}${meant === undefined ? '.' : `; did you mean ${meant}?`} ${known}`
}

// Other names are not repeated in the message.
const namePattern = /^[A-Za-z][\w-]{0,31}$/

/** Names that other services use for the same parameters. */
const otherNames: Readonly<Record<string, ListingKey>> = {
  pixels: 'px',
  image: 'px',
  picture: 'px',
  url: 'link',
  href: 'link',
  text: 'message',
  msg: 'message',
  title: 'name',
  agent: 'name',
}

function nearestTo(name: string): ListingKey | undefined {
  const other = Object.hasOwn(otherNames, name) ? otherNames[name] : undefined
  if (other !== undefined) return other
  return nearest(name, LISTING_KEYS)
}
