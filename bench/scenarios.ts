/** All scenarios, in the order in which they run. */

import type { Scenario } from './findings.ts'
import { measureAreas } from './scenarios/areas.ts'
import { measureEngines } from './scenarios/engines.ts'
import { measureFollowers } from './scenarios/followers.ts'
import { measureFreeReads } from './scenarios/free-reads.ts'
import { measurePhone, measureReturnVisit } from './scenarios/page.ts'
import { measurePurchases } from './scenarios/purchases.ts'
import { measureCanvas, measureDeed, measureDemands, measureFeed, measureSize } from './scenarios/reads.ts'
import { measurePublishing, measureUnderRepaints } from './scenarios/repaints.ts'
import { measureColdStart, measureMemory } from './scenarios/starts.ts'
import { measureViewers } from './scenarios/viewers.ts'

/** Each scenario by its title. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  'The whole wall, 14,400 painted blocks, gzipped': measureCanvas,
  'The deed of a sold block': measureDeed,
  'A demand for payment (402)': measureDemands,
  'From a repaint until everyone can read it': measurePublishing,
  'Readers during repaints': measureUnderRepaints,
  'A page of the feed': measureFeed,
  'Free addresses of a full wall': measureFreeReads,
  'A purchase, including facilitator and chain': measurePurchases,
  'An area of 400 blocks compared with one block': measureAreas,
  'From a repaint until followers of the live stream receive it': measureFollowers,
  'From start to the first read': measureColdStart,
  Memory: measureMemory,
  'Size of the whole wall': measureSize,
}

/** The scenarios that need a database server: they run in a full run, or when selected by name. */
export const onServer: Readonly<Record<string, Scenario>> = {
  'SQLite against PostgreSQL, one instance against three': measureEngines,
}

/** The scenarios that need a proxy, which may not be installed: they run in a full run, or when selected by name. */
export const behindProxy: Readonly<Record<string, Scenario>> = {
  'Viewers behind a caching proxy': measureViewers,
}

/** The scenarios that need a browser, which is heavy: they run in a full run, or when selected by name. */
export const inBrowser: Readonly<Record<string, Scenario>> = {
  'The page: a first visit on a slow phone': measurePhone,
  'The page: a return visit on a slow phone': measureReturnVisit,
}
