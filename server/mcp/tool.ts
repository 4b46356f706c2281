/** A tool as a value: what an agent reads of it, and what it does. */

import type { Static, TObject } from '@sinclair/typebox'
import { isFailure } from '../domain/failure.ts'
import type { SaleDeps } from '../purchase/sell.ts'
import { reader } from '../read.ts'
import type { MyWallDeps } from '../wall/my-wall.ts'
import type { FindSpace } from '../wall/open-blocks.ts'
import type { PreviewDeps } from '../wall/preview-block.ts'
import type { BudgetName, RateLimits } from '../wall/rate-limits.ts'
import type { ChangeDeps } from '../wall/signed-changes.ts'
import type { SigningMessageDeps } from '../wall/signing-message.ts'
import type { WallImages } from '../wall/wall-image.ts'
import { refuseArgument } from './arguments.ts'
import { refuse, type Dialect, type Reply } from './reply.ts'

/** What the tools work with: the use cases HTTP serves, and what they read from. */
export type McpDeps = PreviewDeps &
  SigningMessageDeps &
  MyWallDeps &
  SaleDeps & {
    readonly findSpace: FindSpace
    readonly limits: RateLimits
    readonly changing: ChangeDeps
    readonly images: WallImages
    readonly chatView: string // the HTML of the view in chats
  }

/** Hints by which clients decide whether to ask their user first. None of them has a default here. */
export type Annotations = {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

/** For tools that only look. */
export const READ_ONLY: Annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}

/** For tools that spend or repaint. The same call again changes nothing more. */
export const WRITES: Annotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: true,
}

/**
 * Who calls: what a demand for payment is said in, the address that budgets are counted by, and a signal that aborts when the
 * client disconnects.
 */
export type Caller = { readonly dialect: Dialect; readonly address: string; readonly signal: AbortSignal }

/** What comes with a call besides its arguments. `payment` is there when the caller sent an object as one. */
export type Call = Caller & { readonly payment: object | undefined }

/** What an agent reads of a tool. What `output` has is listed in outline only, so that refusals fit it, too: clients hold those against it. */
export type ToolMetadata = {
  readonly name: string
  readonly title: string
  readonly description: string // `PRICE_OF_BLOCK` stands for what a block costs
  readonly annotations: Annotations
  readonly input: TObject
  readonly output?: TObject
  readonly budget?: BudgetName // of the caller's address, beside that for all calls
  readonly sells?: 'a block' | 'an area' // costs money
  readonly isShown?: true // in the chat, where the host shows views
}

/** What a description says where a block's price belongs, which only the settings know. */
export const PRICE_OF_BLOCK = '{price}'

export type Tool = ToolMetadata & {
  readonly answer: (deps: McpDeps, given: unknown, call: Call) => Reply | Promise<Reply>
}

/** A tool whose arguments are checked by its input schema. */
export function tool<Input extends TObject>(
  metadata: ToolMetadata & { readonly input: Input },
  work: (deps: McpDeps, args: Static<Input>, caller: Caller) => Reply | Promise<Reply>,
): Tool {
  const read = reader(metadata.input, refuseArgument(metadata.input))
  return {
    ...metadata,
    answer(deps, given, call) {
      const args = read(given ?? {})
      return isFailure(args) ? refuse(args) : work(deps, args, call)
    },
  }
}
