/** What a buyer says of a block, from the query of a paid address. */

import { failure, type Failure } from '../../domain/failure.ts'
import { LISTING_KEYS, readListing, type Listing, type ListingKey } from '../../domain/purchase/listing.ts'
import { readQuery, strangerIn } from './query.ts'
import { queryOf } from './request-url.ts'

// A listing in the longest spelling there is takes less. The query comes back in a header, which must not grow too large.
const QUERY_MAX = 4096

/** Reads a listing, or names the first parameter that breaks its rule or is none of a listing's. */
export function readListingQuery(url: string): Listing | Failure {
  if (queryOf(url).length > QUERY_MAX) return refuse(`The query is longer than ${QUERY_MAX} characters.`)
  const stranger = strangerIn(url, LISTING_KEYS)
  return stranger === undefined ? readListing(readQuery(url, LISTING_KEYS)) : refuse(unknown(stranger))
}

const refuse = (what: string) => failure('invalid_listing', `${what} Nothing was charged.`)

/** A misspelt parameter would otherwise sell a block without what it was to show. */
function unknown(name: string): string {
  const known = `A block takes ${LISTING_KEYS.join(', ')}.`
  if (!namePattern.test(name)) return `There is a parameter that a block does not take. ${known}`
  const meant = nearestTo(name.toLowerCase())
  return `There is no parameter ${name}${meant === undefined ? '.' : `; did you mean ${meant}?`} ${known}`
}

// Anything else is not repeated.
const namePattern = /^[A-Za-z][\w-]{0,31}$/

/** What other addresses, and other people, call the same. */
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

/** How many letters have to be added, left out or replaced to make one word of the other. */
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
