/** Arguments that several tools share, and their validation. */

import { Type, type TObject } from '@sinclair/typebox'
import { CoordText, PixelsHex } from '../../shared/contract/kinds.ts'
import { ADDRESS_PATTERN } from '../../shared/wallet.ts'
import { getFieldCode, createFailure, type Failure } from '../domain/failure.ts'
import type { Flaw } from '../read.ts'

const COORD_RANGE = 'col 0 to 159 from the left, row 0 to 89 from the top'

export const CoordArgument = { ...CoordText, description: `The block, \`col,row\`: ${COORD_RANGE}.` }

/** The part of a description that says what an edit does if a field is omitted or null. */
export const KEEPS = 'Omit to keep; null clears.'

/** The time at which a change was signed. */
export const SignedAt = Type.Integer({
  description: 'Unix time in milliseconds, as signed; within 5 minutes of the server’s.',
  examples: [1_760_000_000_000],
})

/** A wallet, as subject or as signer. */
export const WalletArgument = Type.String({
  pattern: ADDRESS_PATTERN,
  description: 'The full address: 0x followed by 40 hex digits, in any letter case.',
  examples: ['0x000000000000000000000000000000000000dEaD'],
})

/** A position to search around. */
export const NearArgument = Type.Optional({
  ...CoordText,
  description: `The block to search around, \`col,row\`: ${COORD_RANGE}. Default: the wall’s centre.`,
})

/** A picture, without its example of 200 characters: every client pays for each word of the tool list. */
export const PixelsArgument = {
  ...PixelsHex,
  description:
    'The picture: 100 pixels row by row from the top left, each two hex digits (200 in all): an index into get_wall’s palette, 00 to ef. Example: b4 a hundred times is all red. image_to_pixels makes it from a picture.',
  examples: undefined,
}

/** The names of untrusted fields. */
export const Untrusted = Type.Array(Type.String())

/** Refuses a call with an invalid argument; the error contains the tool's description of that argument. */
export const refuseArgument =
  (input: TObject) =>
  ({ name, schema }: Flaw): Failure =>
    schema === undefined
      ? createFailure('invalid_body', describeUnknownArgument(input))
      : createFailure(
          getFieldCode(name, 'invalid_body'),
          `${name} is missing or invalid. It should be: ${schema.description ?? schema['type']}`,
        )

/** Returns arguments to be read one by one. The SDK has checked that they are an object or absent. */
export const readArguments = (given: unknown): Readonly<Record<string, unknown>> => ({
  ...(given as object | undefined),
})

/** The error for an unknown argument. */
export const describeUnknownArgument = ({ properties }: TObject): string =>
  `Unknown argument. Arguments of this tool: ${Object.keys(properties).join(', ') || 'none'}.`
