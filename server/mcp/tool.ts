/** A tool as a value: its description for agents, and its function. */

import type { Static, TObject } from '@sinclair/typebox'
import { isFailure } from '../domain/failure.ts'
import type { SaleDeps } from '../purchase/sell.ts'
import { createReader } from '../read.ts'
import type { MyWallDeps } from '../wall/my-wall.ts'
import type { FindSpace } from '../wall/open-blocks.ts'
import type { PreviewDeps } from '../wall/preview-block.ts'
import type { BudgetName, RateLimits } from '../wall/rate-limits.ts'
import type { ChangeDeps } from '../wall/signed-changes.ts'
import type { SigningMessageDeps } from '../wall/signing-message.ts'
import type { WallImages } from '../wall/wall-image.ts'
import { refuseArgument } from './arguments.ts'
import { refuse, type Dialect, type Reply } from './reply.ts'

/** The dependencies of the tools: the use cases that HTTP serves, and their sources. */
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

/** Hints by which clients decide whether to ask their user before a call. Each tool must set all of them. */
export type Annotations = {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

/** For read-only tools. */
export const READ_ONLY: Annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}

/** For tools that spend money or make signed changes. Repeating the same call changes nothing more. */
export const WRITES: Annotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: true,
}

/**
 * The caller: the form of a demand for payment, the address whose budgets the call uses, and a signal that aborts when
 * the client disconnects.
 */
export type Caller = { readonly dialect: Dialect; readonly address: string; readonly signal: AbortSignal }

/** The context of a call besides its arguments. `payment` is set if the caller sent a payment that is an object. */
export type Call = Caller & { readonly payment: object | undefined }

/**
 * The description of a tool for agents. Only an outline of `output` is listed: clients also validate errors against it,
 * so errors must match it, too.
 */
export type ToolMetadata = {
  readonly name: string
  readonly title: string
  readonly description: string // `PRICE_OF_BLOCK` stands for the price of a block
  readonly annotations: Annotations
  readonly input: TObject
  readonly output?: TObject
  readonly budget?: BudgetName // a budget of the caller's address, in addition to the one for all calls
  readonly sells?: 'a block' | 'an area' // costs money
  readonly isShown?: true // the result is shown in the chat if the host supports views
}

/** The placeholder in a description for a block's price, which comes from the settings. */
export const PRICE_OF_BLOCK = '{price}'

export type Tool = ToolMetadata & {
  readonly answer: (deps: McpDeps, given: unknown, call: Call) => Reply | Promise<Reply>
}

/** A tool whose arguments are validated by its input schema. */
export function defineTool<Input extends TObject>(
  metadata: ToolMetadata & { readonly input: Input },
  work: (deps: McpDeps, args: Static<Input>, caller: Caller) => Reply | Promise<Reply>,
): Tool {
  const read = createReader(metadata.input, refuseArgument(metadata.input))
  return {
    ...metadata,
    answer(deps, given, call) {
      const args = read(given ?? {})
      return isFailure(args) ? refuse(args) : work(deps, args, call)
    },
  }
}
