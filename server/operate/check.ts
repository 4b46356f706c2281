/** `pixel-wall check`: reports before the start whether a wall with these settings will sell. */

import { NoWallYet } from '../../db/cannot-open.ts'
import { openBooks } from '../../db/open.ts'
import { findDumpTool, NO_DUMP_TOOL } from '../../db/postgres/dump.ts'
import { systemClock as clock } from '../adapters/clock.ts'
import { createFreeSpaceReader } from '../adapters/disk-space.ts'
import { recoverTextSigner } from '../adapters/wallets/recover.ts'
import { openWebhook } from '../adapters/webhook.ts'
import { openWitness } from '../adapters/witness-file.ts'
import { OLDER_COPY } from '../books/check-restored-backup.ts'
import { ConfigError, readConfig, type Config } from '../config.ts'
import type { DependencyState } from '../domain/dependency.ts'
import type { UnixMs } from '../domain/purchase/payment.ts'
import { isOlder, type Database, type StorePosition } from '../domain/store-position.ts'
import { BACKUP_LATE_MS, FREE_BYTES_MIN } from '../health/watch-store.ts'
import { openRail } from '../open-rail.ts'
import { findPathProblems, findPortProblems } from '../preflight.ts'
import { NoAdminSocket } from './admin-socket.ts'
import { sendCommand, printLines, UsageError, type Command } from './command.ts'

const USAGE = `Checks whether a wall with these settings can sell. The wall may be running or stopped. The command changes and pays nothing.

  pixel-wall check

Checks the settings, ports, folders, disk, database, witness and clock, has the facilitators verify a
payment, queries the chain endpoints, and sends the webhook a notice of the type test.
Exit status: 0 if everything works, 1 if not.
`

/** Checks whether the wall will sell. */
export const check: Command = {
  usage: USAGE,
  async run(args) {
    if (args.length > 0) throw new UsageError('check takes no arguments')
    const findings = await collectFindings()
    printLines(
      findings.map(({ what, trouble }) => (trouble === null ? `ok     ${what}` : `WRONG  ${what}: ${trouble}`)),
    )
    return findings.every(({ trouble }) => trouble === null) ? 0 : 1
  },
}

/** One checked item; `trouble` is null if it works. */
type Finding = { readonly what: string; readonly trouble: string | null }

async function collectFindings(): Promise<readonly Finding[]> {
  try {
    const config = readConfig(Bun.env)
    const runs = await isRunning()
    const places = [
      // The ports are not checked while the wall runs, because it uses them itself.
      ...(runs ? [] : toFindings('ports', findPortProblems(config))),
      ...toFindings('folders', findPathProblems(config)),
    ]
    return [
      { what: 'settings', trouble: null },
      ...places,
      await checkDisk(config),
      await checkDatabase(config),
      ...(await checkBackup(config)),
      ...(await checkProofs(config)),
      ...(await checkWebhook(config)),
      ...(await checkNetwork(config)),
    ]
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return toFindings('settings', error.problems)
  }
}

const toFindings = (what: string, troubles: readonly string[]): readonly Finding[] =>
  troubles.length === 0 ? [{ what, trouble: null }] : troubles.map((trouble) => ({ what, trouble }))

async function isRunning(): Promise<boolean> {
  try {
    await sendCommand('status', {})
    return true
  } catch (error) {
    if (error instanceof NoAdminSocket) return false
    throw error
  }
}

async function checkDisk({ database, witnessPath }: Config): Promise<Finding> {
  const free = await createFreeSpaceReader(database.kind === 'sqlite' ? database.path : (witnessPath ?? '.'))()
  const isLow = free !== undefined && free < FREE_BYTES_MIN
  return { what: 'disk', trouble: isLow ? 'the disk is nearly full' : null }
}

/** Checks the database. A database without a wall is not a problem, because the first start creates the wall. */
async function checkDatabase({ database, network, witnessPath }: Config): Promise<Finding> {
  const what = `database (${database.kind})`
  try {
    // The witness is read before the store: a running wall advances both, and a witness read later could be ahead of
    // the store.
    const seen = await openWitness(witnessPath).read()
    const position = await readPosition(database, network)
    return { what, trouble: seen !== undefined && isOlder(position, seen) ? OLDER_COPY : null }
  } catch (error) {
    return { what, trouble: error instanceof Error ? error.message : String(error) }
  }
}

/** Checks whether each ownership proof is a signature of this wall's URL by the payment address. */
async function checkProofs({ offer }: Config): Promise<readonly Finding[]> {
  const { ownershipProofs = [], baseUrl, terms } = offer
  const signers = await Promise.all(ownershipProofs.map((proof) => recoverTextSigner(baseUrl, proof)))
  return signers.map((signer, nth) => ({
    what: `ownership proof ${nth + 1}`,
    trouble: signer === terms.payTo ? null : `it is not a signature of ${baseUrl} by PAY_TO; sign that text again`,
  }))
}

async function readPosition(database: Database, network: string): Promise<StorePosition> {
  try {
    await using books = await openBooks(database)
    return await books.readPosition(network)
  } catch (error) {
    if (error instanceof NoWallYet) return NOT_THERE
    throw error
  }
}

/** Checks that the wall can back up its database server, or that another tool makes and reports backups. */
async function checkBackup({ database }: Config): Promise<readonly Finding[]> {
  if (database.kind === 'sqlite') return []
  const isMade = findDumpTool() !== null || clock.now() - (await readBackupTime(database)) < BACKUP_LATE_MS
  return [{ what: 'backups', trouble: isMade ? null : `${NO_DUMP_TOOL}, ${OTHER_TOOL}` }]
}

const OTHER_TOOL = 'or run pixel-wall backup --made after each backup that another tool makes'

async function readBackupTime(database: Database): Promise<UnixMs> {
  try {
    await using books = await openBooks(database)
    return (await books.readLastBackupTime()) ?? 0
  } catch {
    // A separate line reports any problem with the database.
    return 0
  }
}

const NOT_THERE: StorePosition = { change: 0, payment: 0, height: 0n, payees: [] }

/** Sends the webhook a notice of the type `test`. */
async function checkWebhook({ webhook }: Config): Promise<readonly Finding[]> {
  if (webhook === undefined) return []
  const { host, send } = openWebhook(webhook, clock)
  const notice = { id: `test-${crypto.randomUUID()}`, type: 'test', at: clock.now(), data: {} } as const
  return [{ what: `webhook ${host}`, trouble: await send(notice, new AbortController().signal) }]
}

/** If a missing API key may be the cause of a problem, adds to its reason which settings to set. */
const addSettingHint = (reason: string | null): string | null =>
  reason?.endsWith('(401)') === true ? `${reason}; set FACILITATOR_KEYS, or CDP_API_KEY_ID and its secret` : reason

// Within this time, every supported chain makes a block, with which the clock can be compared.
const NEXT_BLOCK_MS = 3000

/** Probes the chain and the facilitators as the wall does when it starts, and then once more. */
async function checkNetwork(config: Config): Promise<readonly Finding[]> {
  const silent = { note: () => {}, alert: () => {} }
  const { rail, outages, checkClock } = openRail(config, undefined, silent)
  await rail.probe()
  checkClock()
  await clock.wait(NEXT_BLOCK_MS)
  await rail.probe()
  checkClock()
  // The outages are in the order of the responses, so the findings are sorted.
  const findings = outages
    .listAll()
    .map(({ kind, name, reason }: DependencyState) => ({ what: `${kind} ${name}`, trouble: reason }))
    .toSorted((one, other) => one.what.localeCompare(other.what))
  const fault = rail.readFault()
  const isNamed = fault === null || findings.some(({ trouble }) => trouble !== null && fault.includes(trouble))
  const all = isNamed ? findings : [...findings, { what: 'payments', trouble: fault }]
  return all.map(({ what, trouble }) => ({ what, trouble: addSettingHint(trouble) }))
}
