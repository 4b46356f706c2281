/** What is bought and what is said of it, as buying and trying out take it. */

import { Type } from '@sinclair/typebox'
import { ListingQuery } from '../../shared/contract/block.ts'
import { TargetText } from '../../shared/contract/preview.ts'
import { parseCoord, type BlockIndex } from '../../shared/wall.ts'
import type { Failure } from '../domain/failure.ts'
import { LISTING_KEYS, type ListingKey, type FieldText } from '../domain/purchase/listing.ts'
import { invalidCoordinate } from '../domain/purchase/refusals.ts'
import { Arguments, argumentsIn, PixelsArgument } from './arguments.ts'

const { name, framework, message, link, painter } = ListingQuery.properties

export const OrderArguments = Arguments({
  coord: TargetText,
  px: Type.Optional(PixelsArgument),
  link,
  name,
  message,
  framework,
  painter,
})

/** `hasStrangers` when an argument is not known: a misspelt `px` would sell a block unpainted. */
export type Order = {
  readonly target: BlockIndex | 'next'
  readonly said: ReadonlyMap<ListingKey, FieldText>
  readonly hasStrangers: boolean
}

/** Reads what is bought; what is said of it is only collected, because a payment known already is answered first. */
export function readOrder(given: unknown): Order | Failure {
  const { coord, ...rest } = argumentsIn(given)
  const target = coord === 'next' ? coord : typeof coord === 'string' ? parseCoord(coord) : undefined
  if (target === undefined) return invalidCoordinate()
  const entries = LISTING_KEYS.filter((key) => Object.hasOwn(rest, key)).map(
    (key) => [key, sayingOf(rest[key])] as const,
  )
  return { target, said: new Map(entries), hasStrangers: Object.keys(rest).length > entries.length }
}

/** What is said in a field, if it is a text. */
export const sayingOf = (value: unknown): FieldText =>
  typeof value === 'string' ? { text: value } : { flaw: 'must be a string' }
