/**
 * Opens the dependencies of payments from the settings: the chain, the facilitators, and the rail over both. The wall
 * does this when it starts; `pixel-wall check` does it to find out whether the start will succeed.
 */

import { createViemChain } from './adapters/chain/chain.ts'
import { openEndpoints } from './adapters/chain/endpoints.ts'
import { systemClock as clock } from './adapters/clock.ts'
import { createCoinbaseAuth } from './adapters/facilitator/coinbase.ts'
import { createHttpFacilitator, type ExtensionSaid } from './adapters/facilitator/facilitator.ts'
import type { Metrics } from './adapters/metrics/metrics.ts'
import type { Config } from './config.ts'
import type { DependencyKind } from './domain/dependency.ts'
import { guardChainFreshness } from './health/chain-freshness.ts'
import { type Outages, trackOutages } from './health/outages.ts'
import { createPaymentHealth } from './health/payment-health.ts'
import { createClockCheck, watchEventLoop } from './health/watch-process.ts'
import type { CatalogueAnswer } from './operate/status-report.ts'
import type { Logger, RingMember } from './ports.ts'
import { createFacilitatorRing } from './purchase/facilitator-ring.ts'
import { TIMES, type Times } from './times.ts'

/**
 * Opens the chain and the facilitators of these settings, and tracks every outage. Makes no calls yet. `checkClock`
 * compares the clock with that of the chain.
 */
export function openRail(config: Config, metrics: Metrics | undefined, logger: Logger, times: Times = TIMES) {
  const { offer, network } = config
  const eventLoop = watchEventLoop(clock)
  const { isLate } = eventLoop
  const outages = trackOutages({ clock, logger, isLate })
  const endpoints = openEndpoints(network, config.rpcUrls, {
    clock,
    callsPerSecond: config.rpcCallsPerSecond,
    times,
    onProbed: (host, trouble) => outages.recordState({ kind: 'chain-endpoint', name: host }, trouble),
  })
  const asked = createViemChain(endpoints, offer)
  const chain = guardChainFreshness(metrics?.timeChain(asked) ?? asked, {
    clock,
    report: (reason) => outages.recordState({ kind: 'chain', name: network }, reason),
  })
  const { probeTimeoutMs } = times
  const catalogues = new Map<string, CatalogueAnswer>()
  const members = createMembers({ ...config, probeTimeoutMs }, logger, outages, catalogues).map(
    (member) => metrics?.timeFacilitator(member) ?? member,
  )
  const facilitator = createFacilitatorRing({ ...config, members, chain, clock, logger, times })
  const describeFacilitatorTrouble = () => joinReasons(outages, 'facilitator')
  const rail = createPaymentHealth({
    facilitator,
    chain,
    clock,
    logger,
    findFacilitatorTrouble: describeFacilitatorTrouble,
    isLate,
    times,
  })
  const compareClock = createClockCheck({ clock, outages })
  const checkClock = () => compareClock(endpoints.findNewest())
  return { endpoints, chain, facilitator, rail, outages, eventLoop, checkClock, catalogues }
}

/** Why dependencies of a kind are down; `null` if none is. */
function joinReasons(outages: Outages, kind: DependencyKind): string | null {
  const down = outages.listAll().filter((one) => one.kind === kind && one.state === 'down')
  return down.map(({ reason }) => reason ?? kind).join('; ') || null
}

type FacilitatorsConfig = Config & Pick<Times, 'probeTimeoutMs'>

/** The facilitators in the order in which they are called. */
function createMembers(
  config: FacilitatorsConfig,
  logger: Logger,
  outages: Outages,
  catalogues: Map<string, CatalogueAnswer>,
): readonly RingMember[] {
  const { facilitatorUrls, verifyTimeoutMs, settleTimeoutMs, probeTimeoutMs, cdpKey, facilitatorKeys, offer } = config
  const coinbase = cdpKey === undefined ? undefined : createCoinbaseAuth(cdpKey)
  return facilitatorUrls.map((url) => {
    const facilitator = new URL(url).host
    const key = facilitatorKeys.get(facilitator)
    const authorize = key === undefined ? coinbase : async () => ({ Authorization: `Bearer ${key}` })
    // The status of an extension is logged only if it changed, because the response to each payment repeats it.
    const onExtension = (said: ExtensionSaid) => {
      const key = `${facilitator} ${said.extension}`
      const answer = { facilitator, ...said }
      if (Bun.deepEquals(catalogues.get(key), answer)) return
      if (catalogues.size >= EXTENSIONS_REMEMBERED) catalogues.clear()
      catalogues.set(key, answer)
      logger.note('extension', answer)
    }
    const onProbed = (trouble: string | null) =>
      outages.recordState(
        { kind: 'facilitator', name: facilitator },
        trouble === null ? null : `the facilitator at ${facilitator} ${trouble}`,
      )
    return createHttpFacilitator(
      { url, verifyTimeoutMs, settleTimeoutMs, probeTimeoutMs, authorize, onExtension, onProbed },
      offer,
    )
  })
}

// More extensions than any facilitator has. The limit protects against a facilitator that invents names.
const EXTENSIONS_REMEMBERED = 64
