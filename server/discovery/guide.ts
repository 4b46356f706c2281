/**
 * The texts that agents read first: the guide, its dozen key sentences, and the routine for owners. The texts are in
 * `texts`.
 */

import type { TObject } from '@sinclair/typebox'
import { AREA_BLOCKS_MAX } from '../../shared/area.ts'
import { PainterBody, RegisterBody } from '../../shared/contract/agent.ts'
import { AreaOrder } from '../../shared/contract/area-order.ts'
import { EditAreaBody } from '../../shared/contract/area.ts'
import { EditBody, ListingQuery } from '../../shared/contract/block.ts'
import { ASSET_SYMBOL, formatMoney } from '../../shared/money.ts'
import { PIXELS_HEX_LENGTH, PIXELS_PER_BLOCK } from '../../shared/pixels.ts'
import {
  formatAreaMessage,
  formatEditMessage,
  formatPainterMessage,
  formatRegisterMessage,
} from '../../shared/signing.ts'
import { AUTHORIZATION_TYPES, PRIMARY_TYPE } from '../../shared/usdc.ts'
import { BLOCK_SIZE, COLS, HEIGHT, ROWS, TOTAL_BLOCKS, WIDTH } from '../../shared/wall.ts'
import { ADVICE, REPEAT } from '../domain/advice.ts'
import { statusOf, type FailureCode } from '../domain/failure.ts'
import { ORDER_VECTOR } from '../domain/purchase/order-vector.ts'
import { TS_TOLERANCE_MS } from '../domain/wall/edit.ts'
import { TEST_VECTOR } from '../domain/wall/signed-fields.ts'
import { createDomain } from '../x402/authorization.ts'
import { SIGN_IN_HEADER, formatSignInMessage } from '../x402/sign-in.ts'
import { toOfferRequirements } from '../x402/terms.ts'
import { meaningOf } from './codes.ts'
import { listFieldRows, renderTable } from './fields.ts'
import { PATHS } from './links.ts'
import { readHostName, renderPitch, formatBlockPrice, renderSpendCap, type Site } from './site.ts'
import essentialsText from './texts/essentials.md' with { type: 'text' }
import guideText from './texts/guide.md' with { type: 'text' }
import heartbeatText from './texts/heartbeat.md' with { type: 'text' }
import llmsText from './texts/llms.md' with { type: 'text' }
import robotsText from './texts/robots.txt' with { type: 'text' }
import { INDEX_RULE, PURE_COLOURS, WORKED_EXAMPLE, WORKED_REGISTRATION, WORKED_SIGN_IN } from './worked-example.ts'

/**
 * The guide in Markdown, for an agent that knows only the address: everything it needs to read, buy, repaint and
 * recover.
 */
export const renderGuide = (site: Site): string =>
  fillText(guideText, {
    ...renderFacts(site),
    ...renderTables(site),
    ...renderPaymentValues(site),
    ...renderSigningValues(site),
  })

/**
 * The facts that an agent must know before its first request, one sentence per line: for `info.x-guidance` and
 * llms.txt.
 */
export const renderEssentials = (site: Site): readonly string[] =>
  fillText(essentialsText, renderFacts(site)).trimEnd().split('\n')

/** The routine that an owner should run on a timer, to see the changes of its blocks and of the blocks next to them. */
export const renderHeartbeat = (site: Site): string => fillText(heartbeatText, renderFacts(site))

/** /llms.txt, in the format of llmstxt.org: a title, a summary, key facts, and lists of links. */
export const renderLlmsTxt = (site: Site): string =>
  fillText(llmsText, {
    ...renderFacts(site),
    essentials: renderList(renderEssentials(site)),
    addresses: renderList(
      site.operations
        .filter(({ method }) => method === 'GET')
        .map(({ path, id, summary }) => `[${id}](${site.offer.baseUrl}${path}): ${summary}`),
    ),
  })

const renderList = (lines: readonly string[]) => lines.map((line) => `- ${line}`).join('\n')

/**
 * /robots.txt: the wall is for machines. Some crawlers have an entry of their own, because without one they do not
 * crawl.
 */
export const renderRobotsTxt = (site: Site): string => fillText(robotsText, renderFacts(site))

type Values = Readonly<Record<string, string | number>>

/** Replaces the `{{name}}` placeholders in a text. Throws if a value is missing. */
const fillText = (text: string, values: Values): string =>
  text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new RangeError(`no value for ${name}`)
    return String(value)
  })

const SIZES = {
  WIDTH,
  HEIGHT,
  COLS,
  ROWS,
  TOTAL_BLOCKS,
  BLOCK_SIZE,
  PIXELS_PER_BLOCK,
  PIXELS_HEX_LENGTH,
  AREA_BLOCKS_MAX,
}

/** The values of placeholders that stand for a word or a sentence. */
function renderFacts(site: Site): Values {
  const { baseUrl, title, terms } = site.offer
  return {
    ...SIZES,
    ...PATHS,
    baseUrl,
    title,
    lastCol: COLS - 1,
    lastRow: ROWS - 1,
    spendCap: renderSpendCap(site),
    pitch: renderPitch(site),
    price: formatBlockPrice(site),
    pixelPrice: formatMoney(terms.amount / BigInt(PIXELS_PER_BLOCK)),
    areaPriceMax: formatMoney(BigInt(AREA_BLOCKS_MAX) * terms.amount).replace('.00', ''),
    asset: ASSET_SYMBOL,
    network: terms.network,
    neverPayTwice: `After a 503, or if no response arrives: ${REPEAT}`,
    afterUnknown: REPEAT,
    after402: ADVICE[402],
    after409: ADVICE[409],
    after502: ADVICE[502],
    indexRule: INDEX_RULE,
    pureColours: PURE_COLOURS,
  }
}

const renderFields = (schema: TObject, name = 'field') => renderTable([name, 'rule', 'meaning'], listFieldRows(schema))

function renderTables({ operations, tools }: Site): Values {
  const free = operations.filter(({ payable }) => payable === undefined)
  const codes = Object.keys(statusOf) as FailureCode[]
  return {
    listingFields: renderFields(ListingQuery, 'parameter'),
    orderFields: renderFields(AreaOrder),
    editFields: renderFields(EditBody),
    registerFields: renderFields(RegisterBody),
    editAreaFields: renderFields(EditAreaBody),
    painterFields: renderFields(PainterBody),
    freeAddresses: renderTable(
      ['request', 'what it does'],
      free.map(({ method, path, summary }) => [`\`${method} ${path}\``, summary]),
    ),
    tools: renderTable(
      ['tool', 'what it does'],
      tools.map(({ name, title }) => [`\`${name}\``, title]),
    ),
    errorCodes: renderTable(
      ['status', 'code', 'meaning'],
      codes.map((code) => [`${statusOf[code]}`, `\`${code}\``, meaningOf[code]]),
    ),
  }
}

/** The values with which an agent can build a payment without an x402 client. */
function renderPaymentValues({ offer }: Site): Values {
  const accepted = toOfferRequirements(offer)
  const authorization = {
    from: '<your address>',
    to: accepted.payTo,
    value: accepted.amount,
    validAfter: '0',
    validBefore: `<Unix seconds: now + at most ${accepted.maxTimeoutSeconds}>`,
    nonce: '<0x and 64 hex digits, random, new for each purchase>',
  }
  const typedData = { domain: createDomain(offer), types: AUTHORIZATION_TYPES, primaryType: PRIMARY_TYPE }
  return {
    typedData: renderJson({ ...typedData, message: authorization }).replaceAll(
      memberPattern,
      '{ "name": $1, "type": $2 }',
    ),
    payload: renderJson({ x402Version: 2, accepted, payload: { signature: '<0x…>', authorization } }),
  }
}

const renderJson = (value: unknown) => JSON.stringify(value, null, 2)

// Matches a field of the signed type, to put it on one line, as such types are usually written.
const memberPattern = /\{\s+"name": ("\w+"),\s+"type": ("\w+")\s+\}/g

/** The exact texts to sign, and examples with a publicly known key. */
function renderSigningValues(site: Site): Values {
  const host = readHostName(site)
  const addTimePlaceholder = (text: string) => text.replace('ts=0', 'ts=<Unix milliseconds>')
  const naming = addTimePlaceholder(formatPainterMessage(host, '<0x…>', 0, null))
  return {
    minutes: TS_TOLERANCE_MS / 60_000,
    editText: addTimePlaceholder(formatEditMessage(host, '<col,row>', 0, {})),
    registerText: addTimePlaceholder(formatRegisterMessage(host, '<0x…>', 0, {})),
    areaText: addTimePlaceholder(formatAreaMessage(host, '<col,row,WxH>', 0, {})),
    painterText: naming.replace('painter=', 'painter=<0x… in lower case, or empty>'),
    testKey: TEST_VECTOR.privateKey,
    testAddress: TEST_VECTOR.address,
    testMessage: TEST_VECTOR.message,
    exampleHost: WORKED_EXAMPLE.host,
    exampleCoord: WORKED_EXAMPLE.coord,
    exampleBody: renderJson(WORKED_EXAMPLE.body),
    registrationText: WORKED_REGISTRATION.message,
    registrationSignature: WORKED_REGISTRATION.body.signature,
    orderText: ORDER_VECTOR.message,
    orderSalt: ORDER_VECTOR.salt,
    orderNonce: ORDER_VECTOR.nonce,
    signInHeader: SIGN_IN_HEADER,
    signInPath: WORKED_SIGN_IN.path,
    signInBody: WORKED_SIGN_IN.body,
    signInText: formatSignInMessage(WORKED_SIGN_IN.header),
    signInFields: renderJson(WORKED_SIGN_IN.header),
  }
}
