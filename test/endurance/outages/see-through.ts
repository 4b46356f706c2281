/** Plays an outage from its beginning until the wall sells again, and measures how long it took to be reported and to end. */

import type { DependencyKind } from '../../../server/domain/dependency.ts'
import type { WallProcess } from '../../../server/local/wall-process.ts'
import { get, sign } from '../../support/e2e/buyer.ts'
import { journalOf, readFeed } from '../../support/e2e/read-wall.ts'
import { limitMs, measureMachine, slownessOf } from '../../support/machine.ts'
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

// After this time the test fails.
const READY_MS = 60_000
const NAMED_MS = 30_000
const OVER_MS = limitMs(10_000)

type Readiness = {
  readonly reasons: readonly string[]
  readonly dependencies: readonly { readonly kind: string; readonly state: string }[]
}

/** Begins an outage, waits until it is reported, ends it, and waits until it is over and a block is bought. */
export async function seeThrough<On extends Stage>(stage: On, outage: Outage<On>): Promise<Seen> {
  const { named, reason, along, begin, end, sells, afterSeconds = 0 } = outage
  const misses: string[] = []
  const hold = (what: string, holds: boolean) => void (holds || misses.push(what))
  const first = stage.wall()
  hold('the wall did not sell before the outage', (await waitWithin(READY_MS, () => isSelling(first))) !== undefined)
  const payment = await sign(first, await stage.around.wallet())
  const before = journalOf(first).length
  const listSince = () => journalOf(stage.wall()).slice(stage.wall() === first ? before : 0)
  const isOther = (dependency: string | undefined) =>
    dependency !== along && (dependency === named || !isOfTheMachine(dependency))
  const listAlerts = () =>
    listSince().filter(({ event, dependency }) => (event === 'outage' && isOther(dependency)) || event === named)

  const began = performance.now()
  await begin(stage)
  const namedS = await waitWithin(afterSeconds * 1000 + NAMED_MS, () => listAlerts().length > 0, began)
  const wall = stage.wall()
  const [alert] = listAlerts()
  const called = alert?.dependency ?? alert?.event ?? ''
  hold('the outage was not reported', alert !== undefined)
  if (alert !== undefined) {
    hold(`it was named ${called}: ${alert.reason}`, called === named && reason.test(alert.reason ?? alert.event))
    const isReady = async () => (await statusOf(wall, '/readyz')) === 200
    if (sells) hold('it stopped sales', await isReady())
    else hold('/readyz stayed ready', (await waitWithin(NAMED_MS, async () => !(await isReady()))) !== undefined)
    await tellsOf(wall, named).then((tells) => hold('/readyz did not name the dependency', tells))
    // A process must not be ended, nor readers sent away, because of a failing dependency.
    for (const path of ['/livez', '/readyz/reads', '/api/canvas'])
      hold(`${path} did not answer`, (await statusOf(wall, path)) === 200)
  }

  const ended = performance.now()
  await end(stage)
  const isOver = async () => {
    const isTold =
      called !== named ||
      alert?.event !== 'outage' ||
      listSince().some(({ event, dependency }) => event === 'outage-over' && dependency === named)
    return isTold && (await isSelling(wall)) && (await get(wall, 'next', payment)).status === 200
  }
  const overS = await waitWithin(OVER_MS, isOver, ended)
  hold('the outage did not end', overS !== undefined)
  for (const other of listAlerts().slice(1)) hold(`${other.dependency ?? other.event} was named, too`, false)
  if (isShared(stage))
    hold('the instances show different sales', (await waitWithin(NAMED_MS, () => showTheSame(stage))) !== undefined)
  return { called, namedS: namedS === undefined ? undefined : namedS - afterSeconds, overS, misses }
}

// On a busy machine the wall is slow, and reports that.
const OF_A_BUSY_MACHINE: readonly (string | undefined)[] = ['event-loop', 'queue'] satisfies DependencyKind[]
const BUSY = 1.5

/** Whether a reported outage is caused by this machine's load, and not by the played outage. */
const isOfTheMachine = (dependency: string | undefined): boolean =>
  OF_A_BUSY_MACHINE.includes(dependency) && slownessOf(measureMachine()) >= BUSY

const statusOf = async ({ url }: WallProcess, path: string) => (await fetch(url + path)).status

const isSelling = async (wall: WallProcess) => (await statusOf(wall, '/readyz')) === 200

/** Whether /readyz shows a dependency as down, or any reason. */
async function tellsOf({ url }: WallProcess, named: string): Promise<boolean> {
  const { reasons, dependencies } = (await (await fetch(`${url}/readyz`)).json()) as Readiness
  return dependencies.some(({ kind, state }) => kind === named && state === 'down') || reasons.length > 0
}

const isShared = (stage: Stage): stage is ServerStage => 'other' in stage

async function showTheSame({ wall, other }: ServerStage): Promise<boolean> {
  const [one, two] = await Promise.all([readFeed(wall()), readFeed(other)])
  return Bun.deepEquals(one, two)
}

const LOOKS_EVERY_MS = 50

/** Checks until `holds` is true; returns the seconds since `began`, or `undefined` after `ms`. */
async function waitWithin(
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
