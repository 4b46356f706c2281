/** All scenarios, in the order in which they run. */

import type { Scenario } from './findings.ts'
import { areas } from './scenarios/areas.ts'
import { engines } from './scenarios/engines.ts'
import { followers } from './scenarios/followers.ts'
import { freeReads } from './scenarios/free-reads.ts'
import { firstPixels, fullWall, onPhone, returning, slowMachine } from './scenarios/page.ts'
import { purchases } from './scenarios/purchases.ts'
import { canvas, deed, demands, feed, size, unchanged } from './scenarios/reads.ts'
import { publish, repaint, underRepaints } from './scenarios/repaints.ts'
import { coldStart, memory } from './scenarios/starts.ts'
import { viewers } from './scenarios/viewers.ts'

/** Each scenario by its title. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  'The whole wall, 14,400 painted blocks, in gzip': canvas,
  'The same, to a reader who has it (304)': unchanged,
  'The deed of a sold block': deed,
  'A demand for payment (402)': demands,
  'A repaint (PUT)': repaint,
  'One repaint until all can read it': publish,
  'Readers during repaints': underRepaints,
  'A page of the feed': feed,
  'Free addresses of a full wall': freeReads,
  'A purchase, facilitator and chain included': purchases,
  'An area of 400 blocks beside one block': areas,
  'Followers of the live stream hear of a repaint': followers,
  'From start to the first read': coldStart,
  Memory: memory,
  'Size of the whole wall': size,
}

/** The scenarios that need a database server: they run in a full run, or by name. */
export const onServer: Readonly<Record<string, Scenario>> = {
  'SQLite against PostgreSQL, one instance against three': engines,
}

/** The scenarios that need a proxy, which may not be installed: they run in a full run, or by name. */
export const behindProxy: Readonly<Record<string, Scenario>> = {
  'Viewers behind a caching proxy': viewers,
}

/** The scenarios that need a browser, which is heavy: they run in a full run, or by name. */
export const inBrowser: Readonly<Record<string, Scenario>> = {
  'The page: first pixels of a full wall on a slow line': firstPixels,
  'The page: a full wall in use': fullWall,
  'The page: on a slow machine and a slow line': slowMachine,
  'The page: a first visit on a slow phone': onPhone,
  'The page: a return on a slow phone': returning,
}
