/** Fills the tokens of a case: times, blocks, wallets, signatures and payments that only a run can know. */

import { decodePercent } from '../../../server/http/request/request-url.ts'
import type { Wallet } from '../../../server/local/wallets.ts'
import type { Case } from './catalogue.ts'
import { recordIn, recordOf } from './json.ts'
import { mutated, newPayload, type Payload } from './payments.ts'
import { FOREIGN_SIGNATURE, signedBody, walletCodes, type Said } from './signatures.ts'
import { headerOf, type Stage } from './stage.ts'

/** A case ready to be sent. */
export type Filled = {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | undefined
  readonly payment: string | undefined // as the header, also when it travels in a body
  readonly payer: Wallet | undefined
  readonly open: string // the open block of this case
  readonly flight: string | undefined // a payment to be sent over HTTP at the same time
}

// One pair of braces may stand inside, as in a JSON object.
const tokenPattern = /\{\{((?:[^{}]|\{[^{}]*\})*)\}\}/g

/** A body that never ends, which is sent by a script. */
export const ENDLESS = '{{endless-chunks}}'

const PAD = 'pad:'
const SIG = 'sig:'

/** Replaces every token of a case; throws for one that is not known. */
export async function fill(stage: Stage, item: Case): Promise<Filled> {
  const filling = newFilling(stage, item)
  const path = await replaceTokens(item.path, filling.word)
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(item.headers)) headers[name] = await replaceTokens(value, filling.word)
  const body = await bodyOf(stage, item, path, filling.word)
  return { path, headers, body, ...filling.made(), open: filling.open() }
}

type Words = (token: string) => Promise<string>

function newFilling(stage: Stage, item: Case) {
  let open: string | undefined
  let payer: Wallet | undefined
  let payment: string | undefined
  let flight: string | undefined
  const openBlock = () => (open ??= stage.open())
  const pay = async (change: string): Promise<string> => {
    payer = await stage.payer()
    const text = await paymentText(stage, payer, change)
    payment = Buffer.from(text).toString('base64')
    if (change.startsWith('same nonce as an HTTP purchase')) flight = payment
    return text
  }
  const word = async (token: string): Promise<string> => {
    const plain = await plainWord(stage, item, token)
    if (plain !== undefined) return plain
    if (token === 'open') return openBlock()
    if (token.startsWith('payobj:')) return await pay(token.slice('payobj:'.length))
    if (!token.startsWith('pay:')) throw new Error(`an unknown token: {{${token}}}`)
    await pay(token.slice('pay:'.length))
    return spelled(token.slice('pay:'.length), payment ?? '')
  }
  return { word, open: openBlock, made: () => ({ payer, payment, flight }) }
}

/** A payment as JSON text: a good one, or one changed as the token says. */
async function paymentText(stage: Stage, payer: Wallet, change: string): Promise<string> {
  const around = { terms: stage.terms, payer, usedHere: stage.usedHere, spentElsewhere: stage.spentElsewhere }
  if (change.startsWith('mutate:')) return await mutated(change.slice('mutate:'.length), around)
  if (!(change in spellings) && !change.startsWith('same nonce')) throw new Error(`an unknown payment: ${change}`)
  const payload: Payload = await newPayload(payer, stage.terms)
  return JSON.stringify(payload)
}

/** Ways to write a good payment down. */
const spellings: Readonly<Record<string, (header: string) => string>> = {
  ok: (header) => header,
  base64url: (header) => Buffer.from(header, 'base64').toString('base64url'),
  unpadded: (header) => header.replaceAll('=', ''),
  twice: (header) => `${header}, ${header}`,
  double: (header) => Buffer.from(header).toString('base64'),
  'trailing-garbage': (header) => `${header}%%`,
}

const spelled = (change: string, header: string) => (spellings[change] ?? ((same: string) => same))(header)

/** Words that need no payment and no body. */
async function plainWord(stage: Stage, item: Case, token: string): Promise<string | undefined> {
  const shift = /^now([+-]\d+)?$/.exec(token)
  if (shift !== null) return String(Date.now() + Number(shift[1] ?? 0))
  if (token === 'nowSeconds') return String(Math.floor(Date.now() / 1000))
  if (token === 'host') return stage.host
  if (token === 'owned' || token === 'claimed') return await ownedBlock(stage, item)
  if (token === 'reserved') return stage.reserved
  if (token === 'reserved-by-other') return await stage.beingBought()
  const [kind, who, form] = token.split(':')
  return kind === 'wallet' ? addressIn(walletOf(stage, who), form) : undefined
}

const walletOf = ({ owner, stranger }: Stage, who: string | undefined) => {
  if (who === 'owner') return owner
  if (who === 'stranger') return stranger
  throw new Error(`an unknown wallet: ${who}`)
}

function addressIn({ address }: Wallet, form: string | undefined): string {
  if (form === undefined || form === 'checksum') return address
  if (form === 'upper') return `0x${address.slice(2).toUpperCase()}`
  if (form === 'lower') return address.toLowerCase()
  throw new Error(`an unknown way to write an address: ${form}`)
}

const contractPattern = /\{\{sig:contract:([^{}]+)\}\}/

/** The block of the owner, or of the contract whose signature the case brings. */
async function ownedBlock(stage: Stage, { body }: Case): Promise<string> {
  const kind = contractPattern.exec(body ?? '')?.[1]
  if (kind === undefined) return stage.owned
  const code = walletCodes[kind]
  if (code === undefined) throw new Error(`an unknown contract: ${kind}`)
  return await stage.ownedByContract(code)
}

async function bodyOf(stage: Stage, item: Case, path: string, word: Words): Promise<Uint8Array | undefined> {
  if (item.bodyB64 !== undefined) return Uint8Array.fromBase64(item.bodyB64)
  if (item.body === null || item.body === ENDLESS) return undefined
  const whole = /^\{\{pad:(\d+)\}\}$/.exec(item.body)
  const template = whole === null ? item.body : `${goodBody(item)}${item.body}`
  // A payment stands in quotes in the template, and is an object.
  const unquoted = template.replaceAll(/"(\{\{payobj:(?:[^{}]|\{[^{}]*\})*\}\})"/g, '$1')
  const later = (token: string) => token.startsWith(SIG) || token.startsWith(PAD)
  const filled = await replaceTokens(unquoted, async (token) => (later(token) ? `{{${token}}}` : word(token)))
  const said = saidIn(stage, item, path, filled)
  const signed = await replaceTokens(filled, async (token) =>
    token.startsWith(SIG) ? signatureFor(stage, token.slice(SIG.length), said) : `{{${token}}}`,
  )
  return new TextEncoder().encode(padded(signed))
}

/** A body that would be fine if it were not so long. */
function goodBody({ area, path }: Case): string {
  if (area === 'mcp' || path === '/mcp') return '{"jsonrpc":"2.0","id":1,"method":"ping"}'
  const time = '"ts":{{now}},"signature":"{{sig:owner}}"'
  return area === 'put_me' ? `{"wallet":"{{wallet:owner}}",${time},"name":"x"}` : `{${time},"message":"padded"}`
}

/** Puts blanks in the place of `{{pad:n}}`, so that the body has n bytes. */
function padded(text: string): string {
  return text.replace(/\{\{pad:(\d+)\}\}/, (token, size: string) => {
    const have = Buffer.byteLength(text) - token.length
    if (have > Number(size)) throw new Error(`the body has ${have} bytes before padding to ${size}`)
    return ' '.repeat(Number(size) - have)
  })
}

/** What a body says, as far as it can be read. */
function saidIn(stage: Stage, item: Case, path: string, text: string): Said {
  const record = recordIn(text.replaceAll(tokenPattern, '0x'))
  const call = recordOf(recordOf(record['params'])['arguments'])
  const isCall = item.area === 'mcp' || path === '/mcp'
  const fields = isCall ? call : record
  const named = isCall ? call['coord'] : decodePercent(path.slice('/blocks/'.length).split('?')[0] ?? '')
  const coord = typeof named === 'string' ? named : ''
  const kind = path.startsWith('/api/agents/me') ? 'register' : 'edit'
  return { kind, hostname: stage.hostname, host: stage.host, coord, fields }
}

async function signatureFor(stage: Stage, token: string, said: Said): Promise<string> {
  const [who = '', ...variant] = token.split(':')
  if (who === 'contract') return FOREIGN_SIGNATURE
  return await signedBody(walletOf(stage, who), variant.length === 0 ? undefined : variant.join(':'), said)
}

/** Replaces each token by its word, in order. */
export async function replaceTokens(text: string, word: Words): Promise<string> {
  let result = ''
  let at = 0
  for (const match of text.matchAll(tokenPattern)) {
    result += text.slice(at, match.index) + (await word(match[1] ?? ''))
    at = match.index + match[0].length
  }
  return result + text.slice(at)
}

/** A good payment of a new payer, as a header. */
export async function goodHeader(stage: Stage): Promise<string> {
  return headerOf(await newPayload(await stage.payer(), stage.terms))
}
