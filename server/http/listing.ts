/** What a buyer says of a block, from the query of a paid address. */

import { TypeCompiler } from '@sinclair/typebox/compiler'
import { ListingQuery } from '../../shared/contract/block.ts'
import { parsePixels, type Pixels } from '../../shared/pixels.ts'
import { failure, type Failure } from '../domain/failure.ts'
import type { Listing } from '../domain/listing.ts'
import { readQuery, type QueryValue } from './query.ts'
import { rules } from './rules.ts'

const texts = ['name', 'framework', 'message', 'link'] as const
type TextKey = (typeof texts)[number]

const keys = [...texts, 'px'] as const

const checks = {
  name: TypeCompiler.Compile(ListingQuery.properties.name),
  framework: TypeCompiler.Compile(ListingQuery.properties.framework),
  message: TypeCompiler.Compile(ListingQuery.properties.message),
  link: TypeCompiler.Compile(ListingQuery.properties.link),
}

/** Reads a listing, or names the first parameter that breaks its rule. */
export function readListing(url: string): Listing | Failure {
  const query = readQuery(url, keys)
  const said: Record<TextKey, string | null> = { name: null, framework: null, message: null, link: null }
  for (const key of texts) {
    const text = readText(key, query.get(key))
    if (text !== null && typeof text !== 'string') return text
    said[key] = text
  }
  const pixels = readPixels(query.get('px'))
  if (pixels !== null && 'code' in pixels) return pixels
  return { ...said, pixels }
}

function readText(key: TextKey, value: QueryValue | undefined): string | null | Failure {
  if (value === undefined) return null
  if ('flaw' in value) return failure('invalid_listing', `${key} ${value.flaw}.`)
  return checks[key].Check(value.text) ? value.text : failure('invalid_listing', `${key} ${rules[key]}.`)
}

function readPixels(value: QueryValue | undefined): Pixels | null | Failure {
  if (value === undefined) return null
  if ('flaw' in value) return failure('invalid_pixels', `px ${value.flaw}.`)
  const pixels = parsePixels(value.text)
  return 'problem' in pixels ? failure('invalid_pixels', `px: ${pixels.problem}.`) : pixels
}
