/**
 * Plays an outage from its beginning until the wall sells again, and measures how long it took to be reported and to
 * end.
 */

import type { WallProcess } from '../../../server/local/wall-process.ts'
import { fetchBlock, signBlockPayment } from '../../support/e2e/buyer.ts'
import { readJournal, readFeed } from '../../support/e2e/read-wall.ts'
import { isCausedByMachine, scaleLimit } from '../../support/machine.ts'
import type { Outage } from './outages.ts'
import type { ServerStage, Stage } from './stage.ts'

/**
 * The result of an outage: seconds until it was reported, and from its end until the wall sold again; `misses` lists
 * the unmet expectations.
 */
export type Seen = {
  readonly called: string
  readonly namedS: number | undefined
  readonly overS: number | undefined
  readonly misses: readonly string[]
}

// The test fails if the wall is not ready, the outage is not reported, or the outage is not over within these times.
const READY_MS = 60_000
const NAMED_MS = 30_000
const OVER_MS = scaleLimit(10_000)

type Readiness = {
  readonly reasons: readonly string[]
  readonly dependencies: readonly { readonly kind: string; readonly state: string; readonly reason: string | null }[]
}

/** Begins an outage, waits until it is reported, ends it, and waits until it is over and a block is bought. */
export async function playOutage<On extends Stage>(stage: On, outage: Outage<On>): Promise<Seen> {
  const { named, reason, interrupted, along, begin, end, sells, afterSeconds = 0 } = outage
  const misses: string[] = []
  const expectThat = (what: string, holds: boolean) => void (holds || misses.push(what))
  const first = stage.getWall()
  expectThat(
    'the wall did not sell before the outage',
    (await measureWait(READY_MS, () => isSelling(first))) !== undefined,
  )
  const payment = await signBlockPayment(first, await stage.around.createFundedWallet())
  const before = readJournal(first).length
  const listNewEntries = () => readJournal(stage.getWall()).slice(stage.getWall() === first ? before : 0)
  const isUnexpected = (dependency: string | undefined) =>
    dependency !== along && (dependency === named || !isCausedByMachine(dependency))
  const listAlerts = () =>
    listNewEntries().filter(
      ({ event, dependency }) => (event === 'outage' && isUnexpected(dependency)) || event === named,
    )

  const began = performance.now()
  await begin(stage)
  const namedS = await measureWait(afterSeconds * 1000 + NAMED_MS, () => listAlerts().length > 0, began)
  const wall = stage.getWall()
  const [alert] = listAlerts()
  const called = alert?.dependency ?? alert?.event ?? ''
  expectThat('the outage was not reported', alert !== undefined)
  if (alert !== undefined) {
    const words = alert.reason ?? alert.event
    const isExplained = async () =>
      reason.test(words) ||
      (interrupted?.test(words) === true &&
        (await measureWait(NAMED_MS, () => isShownDown(wall, named, reason))) !== undefined)
    expectThat(`the outage was reported as ${called}: ${words}`, called === named && (await isExplained()))
    const isReady = async () => (await fetchStatus(wall, '/readyz')) === 200
    if (sells) expectThat('the outage stopped sales', await isReady())
    else
      expectThat(
        '/readyz still returned 200',
        (await measureWait(NAMED_MS, async () => !(await isReady()))) !== undefined,
      )
    await isReportedDown(wall, named).then((isReported) =>
      expectThat('/readyz did not report the dependency', isReported),
    )
    // If a dependency fails, a supervisor must not end the process, and a load balancer must not turn readers away.
    for (const path of ['/livez', '/readyz/reads', '/api/canvas'])
      expectThat(`${path} did not return 200`, (await fetchStatus(wall, path)) === 200)
  }

  const ended = performance.now()
  await end(stage)
  const isOver = async () => {
    const isTold =
      called !== named ||
      alert?.event !== 'outage' ||
      listNewEntries().some(({ event, dependency }) => event === 'outage-over' && dependency === named)
    return isTold && (await isSelling(wall)) && (await fetchBlock(wall, 'next', payment)).status === 200
  }
  const overS = await measureWait(OVER_MS, isOver, ended)
  expectThat('the outage did not end', overS !== undefined)
  for (const other of listAlerts().slice(1)) expectThat(`${other.dependency ?? other.event} was reported, too`, false)
  if (isShared(stage))
    expectThat(
      'the instances show different sales',
      (await measureWait(NAMED_MS, () => hasSameSales(stage))) !== undefined,
    )
  return { called, namedS: namedS === undefined ? undefined : namedS - afterSeconds, overS, misses }
}

const fetchStatus = async ({ url }: WallProcess, path: string) => (await fetch(url + path)).status

const isSelling = async (wall: WallProcess) => (await fetchStatus(wall, '/readyz')) === 200

const readReadiness = async ({ url }: WallProcess) => (await (await fetch(`${url}/readyz`)).json()) as Readiness

/** Whether /readyz shows a dependency as down, or gives any reason for not being ready. */
async function isReportedDown(wall: WallProcess, named: string): Promise<boolean> {
  const { reasons, dependencies } = await readReadiness(wall)
  return dependencies.some(({ kind, state }) => kind === named && state === 'down') || reasons.length > 0
}

/** Whether /readyz shows a dependency as down for this reason. */
async function isShownDown(wall: WallProcess, named: string, why: RegExp): Promise<boolean> {
  const { dependencies } = await readReadiness(wall)
  return dependencies.some(({ kind, state, reason }) => kind === named && state === 'down' && why.test(reason ?? ''))
}

const isShared = (stage: Stage): stage is ServerStage => 'other' in stage

async function hasSameSales({ getWall, other }: ServerStage): Promise<boolean> {
  const [one, two] = await Promise.all([readFeed(getWall()), readFeed(other)])
  return Bun.deepEquals(one, two)
}

const LOOKS_EVERY_MS = 50

/** Checks until `holds` is true; returns the seconds since `began`, or `undefined` after `ms`. */
async function measureWait(
  ms: number,
  holds: () => boolean | Promise<boolean>,
  began = performance.now(),
): Promise<number | undefined> {
  while (performance.now() - began < ms) {
    if (await holds()) return (performance.now() - began) / 1000
    await Bun.sleep(LOOKS_EVERY_MS)
  }
  return undefined
}
