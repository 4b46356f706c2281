/** Reads the listing that a buyer gives in the query of a purchase. */

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

const FAR = 3

function nearestTo(name: string): ListingKey | undefined {
  const other = Object.hasOwn(otherNames, name) ? otherNames[name] : undefined
  if (other !== undefined) return other
  const near = LISTING_KEYS.map((key) => ({ key, far: distance(name, key) })).toSorted((one, two) => one.far - two.far)
  const [first] = near
  return first !== undefined && first.far < FAR && first.far < first.key.length ? first.key : undefined
}

/** The Levenshtein distance of two words. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1]
    for (const [j, otherLetter] of [...other].entries()) {
      const replaced = (row[j] ?? 0) + (letter === otherLetter ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
