/** The contract's schemas in the OpenAPI document: each named schema in full once, and references to it. */

import type { TObject } from '@sinclair/typebox'
import {
  Agents,
  FoundingMachine,
  IdentityFields,
  RegisterAnswer,
  RegisterBody,
} from '../../../shared/contract/agent.ts'
import { BlockRef, Deed, EditAnswer, EditBody, EditFields, Owner, Receipt } from '../../../shared/contract/block.ts'
import { Canvas, CanvasAgent, CanvasBlock, CanvasStats } from '../../../shared/contract/canvas.ts'
import { DeedsPage, OwedMoney, SaleDeed } from '../../../shared/contract/deeds.ts'
import { FeedPage, Sale } from '../../../shared/contract/feed.ts'
import { HistoryPage } from '../../../shared/contract/live.ts'
import { PaintedBlocks } from '../../../shared/contract/picture.ts'
import { Preview, PreviewBody } from '../../../shared/contract/preview.ts'
import { ReportBody, Reported } from '../../../shared/contract/report.ts'
import {
  ErrorBody,
  Health,
  PaymentRequiredBody,
  RpcAnswer,
  RpcRequest,
  SignInRequiredBody,
} from '../../../shared/contract/service.ts'
import { OrderSigning, OrderToSign, Signing } from '../../../shared/contract/sign.ts'
import { Spaces } from '../../../shared/contract/space.ts'
import { WalletStanding } from '../../../shared/contract/wallet.ts'

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>

const named: Readonly<Record<string, TObject>> = {
  BlockRef,
  Owner,
  Deed,
  Receipt,
  EditBody,
  EditAnswer,
  Canvas,
  CanvasAgent,
  CanvasBlock,
  CanvasStats,
  FeedPage,
  HistoryPage,
  Sale,
  DeedsPage,
  SaleDeed,
  OwedMoney,
  FoundingMachine,
  Agents,
  RegisterBody,
  RegisterAnswer,
  Health,
  PreviewBody,
  Preview,
  ReportBody,
  Reported,
  Spaces,
  PaintedBlocks,
  Signing,
  OrderToSign,
  OrderSigning,
  WalletStanding,
  RpcRequest,
  RpcAnswer,
  Error: ErrorBody,
  PaymentRequired: PaymentRequiredBody,
  SignInRequired: SignInRequiredBody,
  EditFields,
  IdentityFields,
}

// To make a schema optional, TypeBox copies it, but the copy shares its `properties`, so these identify a named schema.
const nameOf = new Map<unknown, string>(Object.entries(named).map(([name, { properties }]) => [properties, name]))

/** Every named schema in full. */
export const publishNamedSchemas = (): Json =>
  Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, publishMembers(schema)]))

/** A schema as JSON, with a reference in place of each named schema. */
export function publishSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(publishSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  const name = 'properties' in schema ? nameOf.get(schema.properties) : undefined
  return name === undefined ? publishMembers(schema) : { $ref: `#/components/schemas/${name}` }
}

const publishMembers = (schema: object): Json =>
  Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, publishSchema(value)]))
