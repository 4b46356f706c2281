/** `pixel-wall listed`: checks whether Coinbase's catalogue would list each paid address, and whether it does. */

import { parseArgs } from 'node:util'
import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { fetchBounded } from '../adapters/bounded-calls.ts'
import { CATALOGUE_BOUNDS, toCatalogueAddress, Merchant, formatMerchantPath } from '../adapters/catalogue.ts'
import { readConfig } from '../config.ts'
import { printLines, type Command } from './command.ts'

const CATALOGUE = 'https://api.cdp.coinbase.com/platform/v2/x402'

const USAGE = `Checks whether agents can find the wall: has Coinbase's catalogue validate each paid address, and reads which of them the catalogue lists. The command pays nothing.

  pixel-wall listed [--catalogue URL]

The wall must be reachable at BASE_URL. --catalogue sets another catalogue with the same API; Coinbase's is
${CATALOGUE}.
Exit status: 0 if all is well, 1 if there is something to do, 2 if that cannot be determined.
`

/** Checks whether a catalogue lists the paid addresses of the wall. */
export const listed: Command = {
  usage: USAGE,
  async run(args) {
    const { values } = parseArgs({ args: [...args], options: { catalogue: { type: 'string', default: CATALOGUE } } })
    const { offer } = readConfig(Bun.env)
    try {
      const rows = await readRows(values.catalogue, offer.baseUrl, offer.terms.payTo)
      printLines(['| address | finding | what to do |', '|---|---|---|'])
      printLines(rows.map(({ address, what, toDo }) => `| ${address} | ${what} | ${toDo ?? 'nothing'} |`))
      return rows.every(({ toDo }) => toDo === undefined) ? 0 : 1
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error
      printLines([error.message], console.error)
      return 2
    }
  },
}

async function readRows(catalogue: string, baseUrl: string, payTo: string): Promise<readonly Row[]> {
  const { resources } = await fetchChecked(catalogue + formatMerchantPath(payTo), Merchant)
  const rows: Row[] = []
  for (const { method, path } of await listPaidAddresses(baseUrl)) {
    const resource = baseUrl + path
    const validation = await fetchChecked(`${catalogue}/validate`, Validation, createPostInit({ resource, method }))
    const isListed = resources.some((known) => toCatalogueAddress(known.resource) === toCatalogueAddress(resource))
    rows.push(...toRows(`${method} ${resource}`, validation, isListed))
  }
  return rows
}

type Row = { readonly address: string; readonly what: string; readonly toDo?: string }

const TEXT = Type.String({ maxLength: 2000 })

/** The catalogue's report about an address. */
const Validation = Type.Object({
  valid: Type.Boolean(),
  preflight: Type.Array(
    Type.Object({ check: TEXT, passed: Type.Boolean(), detail: Type.Optional(Type.Union([TEXT, Type.Null()])) }),
  ),
  simulation: Type.Optional(
    Type.Union([
      Type.Object({ outcome: TEXT, rejectionReason: Type.Optional(Type.Union([TEXT, Type.Null()])) }),
      Type.Null(),
    ]),
  ),
})

/** Thrown if a response is missing, or not in the expected format. */
class Unanswered extends Error {
  override name = 'Unanswered'
}

/** Fetches JSON and checks it against a schema; throws `Unanswered` if either fails. */
async function fetchChecked<Schema extends TSchema>(url: string, schema: Schema, init = {}): Promise<Static<Schema>> {
  const response = await fetchBounded(url, init, CATALOGUE_BOUNDS).catch(() => undefined)
  const value: unknown = await response?.json().catch(() => undefined)
  if (response?.ok === true && Value.Check(schema, value)) return value
  throw new Unanswered(
    `${url} ${response === undefined ? 'does not respond' : `returned an unexpected response (status ${response.status})`}.`,
  )
}

const createPostInit = (body: object) => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
})

const Document = Type.Object({ paths: Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown())) })

const Paid = Type.Object({
  'x-payment-info': Type.Object({}),
  parameters: Type.Array(Type.Object({ name: Type.String(), in: Type.String(), example: Type.Optional(TEXT) })),
})

/** The paid addresses, from the wall's own OpenAPI document at `baseUrl`. */
async function listPaidAddresses(baseUrl: string) {
  const document = await fetchChecked(`${baseUrl}/openapi.json`, Document)
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) =>
      Value.Check(Paid, operation) ? [{ method: method.toUpperCase(), path: fillInExamples(path, operation) }] : [],
    ),
  )
}

const fillInExamples = (path: string, { parameters }: Static<typeof Paid>): string =>
  parameters.reduce((named, { name, example = '' }) => named.replace(`{${name}}`, example), path)

function toRows(address: string, { valid, preflight, simulation }: Static<typeof Validation>, isListed: boolean) {
  const failed = preflight.filter(({ passed }) => !passed)
  const rows: Row[] = failed.map(({ check, detail }) => ({
    address,
    what: `${check}: ${formatCell(detail ?? 'failed')}`,
    toDo: TO_DO[check] ?? 'read the finding; proxies must pass the wall’s headers',
  }))
  if (!valid && failed.length === 0) {
    const what = `refused: ${formatCell(simulation?.rejectionReason ?? 'no reason given')}`
    rows.push({ address, what, toDo: 'read the finding' })
  }
  if (!isListed) rows.push({ address, what: 'not listed', toDo: NOT_LISTED })
  return rows.length === 0 ? [{ address, what: `${preflight.length} checks passed, listed` }] : rows
}

/** Untrusted text in a cell of a table. */
const formatCell = (text: string) => text.slice(0, 200).replaceAll('|', '/')

const TO_DO: Readonly<Record<string, string>> = {
  reachable: 'make BASE_URL reachable from outside: DNS, certificate, firewall',
  returns_402: 'check the proxy in front of the wall: it must pass every request, including those with an empty body',
  has_bazaar_extension: 'check the proxy in front of the wall: it must pass headers of 8 kB',
  parse: 'check the proxy in front of the wall: it must not change PAYMENT-REQUIRED',
}

const NOT_LISTED =
  'make one sale at this address through Coinbase’s facilitator (put that first in FACILITATOR_URL); then `status` shows what the catalogue replied'
