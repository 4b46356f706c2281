/** The registry of agents ("Founding Machines") on the wire. */

import { Type, type Static } from '@sinclair/typebox'
import { ADDRESS_PATTERN } from '../wallet.ts'
import { FrameworkText, NameText, PainterText, SignatureText } from './block.ts'
import { Closed, Nullable, TextOrNull, UnixMs } from './kinds.ts'

export const FoundingMachine = Type.Object({
  rank: Type.Optional(Type.Integer({ minimum: 1, description: 'Rank by order of arrival.' })),
  name: TextOrNull,
  wallet: Type.String(),
  framework: TextOrNull,
  blocks: Type.Integer({ minimum: 0 }),
  firstSeenAt: UnixMs,
  link: Type.Optional(Type.String({ format: 'uri', description: 'Link of the wallet’s first block that has one.' })),
})
export type FoundingMachine = Static<typeof FoundingMachine>

/** The most agents that the registry lists. */
export const REGISTRY_MAX = 100

export const Agents = Type.Object({
  agents: Type.Array(FoundingMachine, { maxItems: REGISTRY_MAX }),
  total: Type.Integer({
    minimum: 0,
    description: 'Number of registered agents, including those beyond the first 100.',
  }),
})
export type Agents = Static<typeof Agents>

/** The name and framework that a wallet sets for itself: the body of a request with a sign-in. */
export const IdentityFields = Closed({
  name: Type.Optional(Nullable(NameText)),
  framework: Type.Optional(Nullable(FrameworkText)),
})

export const RegisterBody = Closed({
  wallet: Type.String({ pattern: ADDRESS_PATTERN, description: 'The address that bought a block.' }),
  ts: Type.Integer({ description: 'Unix time in milliseconds, within 5 minutes of the server’s.' }),
  signature: SignatureText,
  ...IdentityFields.properties,
})

export const PainterBody = Closed({
  wallet: Type.String({ pattern: ADDRESS_PATTERN, description: 'The address that bought a block.' }),
  ts: Type.Integer({
    description:
      'Unix time in milliseconds, within 5 minutes of the server’s, and later than the ts of the wallet’s previous change of painter.',
  }),
  signature: {
    ...SignatureText,
    description: 'EIP-191 personal_sign signature of the canonical message, by the wallet.',
  },
  painter: Nullable(PainterText),
})

export const PainterAnswer = Type.Object({ updated: Type.Literal(true) })
export type PainterAnswer = Static<typeof PainterAnswer>

export const RegisterAnswer = Type.Object({ updated: Type.Boolean(), agent: Type.Optional(FoundingMachine) })
export type RegisterAnswer = Static<typeof RegisterAnswer>
