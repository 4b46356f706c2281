/** Makes the request of a case: fills in times, blocks, wallets, signatures and payments, which differ in each run. */

import { decodePercent } from '../../../server/http/request/request-url.ts'
import { formatEditMessage, formatRegisterMessage, type Field } from '../../../shared/signing.ts'
import { signPayment } from '../../support/chain/payments.ts'
import { encodeHeader } from '../../support/service/wall.ts'
import type { RequestCase } from './catalogue.ts'
import { parseRecord, toRecord } from './json.ts'
import type { Stage } from './stage.ts'
import type { WireRequest } from './wire.ts'

/** Makes the request of a case, with every token replaced; throws for an unknown token. */
export async function fillRequest(stage: Stage, item: RequestCase): Promise<WireRequest> {
  const word = createTokenLookup(stage)
  const { method, bodyB64, chunked = false } = item
  const target = replaceTokens(item.path, word)
  const headers = { ...item.headers, ...(item.pay && { 'payment-signature': await createPayment(stage, item.pay) }) }
  if (bodyB64 !== undefined) return { method, target, headers, chunked, body: Uint8Array.fromBase64(bodyB64) }
  const text = item.body === null ? undefined : await replaceSignatures(stage, target, replaceTokens(item.body, word))
  return { method, target, headers, chunked, body: text === undefined ? undefined : new TextEncoder().encode(text) }
}

type Word = (token: string) => string

/** Replaces all tokens except signatures, which depend on the rest. */
export const replaceTokens = (text: string, word: Word): string =>
  text.replaceAll(/\{\{(?!sig:)([\w:+-]+)\}\}/g, (_, token: string) => word(token))

/** Returns the function that maps a token to its value; it throws for an unknown token. */
export function createTokenLookup(stage: Stage): Word {
  const { owner, stranger, host, owned } = stage
  const known: Readonly<Record<string, string>> = {
    host,
    owned,
    open: stage.findOpenBlock(),
    nowSeconds: String(Math.floor(Date.now() / 1000)),
    'wallet:owner': owner.address,
    'wallet:owner:upper': `0x${owner.address.slice(2).toUpperCase()}`,
    'wallet:stranger': stranger.address,
  }
  return (token) => {
    const shift = /^now([+-]\d+)?$/.exec(token)
    if (shift !== null) return String(Date.now() + Number(shift[1] ?? 0))
    const blanks = /^blanks:(\d+)$/.exec(token)?.[1]
    const text = blanks === undefined ? known[token] : ' '.repeat(Number(blanks))
    if (text === undefined) throw new Error(`an unknown token: {{${token}}}`)
    return text
  }
}

/** Replaces the signature tokens of a body; each signature covers the other fields of the body. */
async function replaceSignatures({ owner, stranger, world }: Stage, target: string, text: string): Promise<string> {
  const who = /\{\{sig:(\w+)\}\}/.exec(text)?.[1]
  if (who === undefined) return text
  const message = composeMessage(new URL(world.url).hostname, target, parseRecord(text))
  const signature = await (who === 'owner' ? owner : stranger).signMessage({ message })
  return text.replaceAll(`{{sig:${who}}}`, signature)
}

/** The canonical message to sign for a body, from those fields that can be parsed. */
function composeMessage(hostname: string, target: string, body: Readonly<Record<string, unknown>>): string {
  const isCall = target === '/mcp'
  const fields = isCall ? toRecord(toRecord(body['params'])['arguments']) : body
  const readField = (name: string) => toField(fields[name])
  const ts = Number(fields['ts'])
  if (target.startsWith('/api/agents/me'))
    return formatRegisterMessage(hostname, String(fields['wallet']), ts, {
      name: readField('name'),
      framework: readField('framework'),
    })
  const coord = isCall ? fields['coord'] : decodePercent(target.slice('/blocks/'.length).split('?')[0] ?? '')
  return formatEditMessage(hostname, String(coord), ts, {
    pixels: readField('pixels'),
    message: readField('message'),
    link: readField('link'),
  })
}

const toField = (value: unknown): Field =>
  value === undefined || value === null || typeof value === 'string' ? value : JSON.stringify(value)

/** The header for a valid payment in which some fields are replaced. */
async function createPayment({ owner, terms }: Stage, changes: Readonly<Record<string, unknown>>): Promise<string> {
  const payment: object = structuredClone(await signPayment(owner, terms))
  for (const [path, value] of Object.entries(changes)) {
    const keys = path.split('.')
    const parent = keys.slice(0, -1).reduce<unknown>((part, key) => toRecord(part)[key], payment)
    Object.assign(toRecord(parent), { [keys.at(-1) ?? '']: value })
  }
  return encodeHeader(payment)
}
