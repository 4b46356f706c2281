/**
 * `bun run abuse [--seconds N] [--only FLOOD] [--buyers N]`: floods a full wall in every way, from one address and from many, and tells
 * in one table what everybody else had of it. Ends with 1 if a flood took more from them than it may.
 */

import { parseArgs } from 'node:util'
import { memoryMib } from '../connections/connections.ts'
import { FLOOD_NAMES } from './floods.ts'
import { blocksOf, openScene, type Effect } from './scene.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    only: { type: 'string' },
    changes: { type: 'string', default: '50000' },
    buyers: { type: 'string', default: '5' },
  },
})

const ADDRESSES = [1, 200]
const IDLE_MS = 3000
const BUY_P50_MAX_MS = 1000
const HEALTH_P99_MAX_MS = 150

const ms = Number(values.seconds) * 1000
const buyers = Number(values.buyers) // honest ones, under each flood
const names = FLOOD_NAMES.filter((name) => values.only === undefined || name === values.only)
if (names.length === 0) {
  console.error(['bun run abuse [--seconds N] [--only FLOOD] [--buyers N]', '', ...FLOOD_NAMES].join('\n  '))
  process.exit(2)
}

// Some more than buyers take: what is left for areas must lie together.
const SLACK = 1.2

const left = Math.ceil(names.length * ADDRESSES.length * blocksOf(buyers) * SLACK)
const scene = await openScene(Number(values.changes), left)
let missed = 0
try {
  await scene.idle(IDLE_MS)
  const { healthP50, healthP99 } = await scene.idle(IDLE_MS)
  console.log(
    `idle: health p50 ${healthP50.toFixed(1)} ms, p99 ${healthP99.toFixed(1)} ms; under a flood p99 may be ${HEALTH_P99_MAX_MS} ms`,
  )
  console.log(
    '| flood | addresses | health p50, p99 ms | answers | bought, painted | buy p50 ms | verify | RPC | log | rail | MiB | |',
  )
  console.log('|---|--:|--:|---|--:|--:|--:|--:|--:|---|--:|---|')
  for (const name of names)
    for (const addresses of ADDRESSES) {
      const effect = await scene.flood(name, { ms, addresses, connectionsMax: Number.POSITIVE_INFINITY, buyers })
      const problems = problemsOf(effect)
      if (problems.length > 0) missed++
      console.log(rowOf(name, addresses, effect, await memoryMib(scene.pid()), problems))
    }

  function problemsOf(effect: Effect): string[] {
    const faults = Object.keys(effect.statuses).filter((status) => status.startsWith('5') && status !== '503')
    return [
      ...(effect.healthP99 > HEALTH_P99_MAX_MS ? [`health p99 is over ${HEALTH_P99_MAX_MS} ms`] : []),
      ...(effect.bought < buyers ? [`${buyers - effect.bought} honest buyers were not served`] : []),
      ...(effect.painted < buyers ? [`${buyers - effect.painted} areas with a picture were not sold at first`] : []),
      ...(effect.buyP50 > BUY_P50_MAX_MS ? [`a purchase took ${effect.buyP50.toFixed(0)} ms`] : []),
      ...faults.map((status) => `answers with status ${status}`),
    ]
  }
} finally {
  await scene.stop()
}
process.exit(missed === 0 ? 0 : 1)

function rowOf(name: string, addresses: number, effect: Effect, mib: number, problems: readonly string[]): string {
  const {
    healthP50,
    healthP99,
    statuses,
    broken,
    resets,
    bought,
    painted,
    buyP50,
    verified,
    rpcCalls,
    logGrew,
    rails,
  } = effect
  const answers = Object.entries(statuses).map(([status, count]) => `${status}: ${count}`)
  const also = [...(broken > 0 ? [`broken: ${broken}`] : []), ...(resets > 0 ? [`resets: ${resets}`] : [])]
  return `| ${[
    name,
    addresses,
    `${healthP50.toFixed(1)}, ${healthP99.toFixed(1)}`,
    [...answers, ...also].join(', '),
    `${bought}, ${painted} of ${buyers}`,
    buyP50.toFixed(0),
    verified,
    rpcCalls,
    logGrew,
    rails.join(', '),
    mib.toFixed(0),
    problems.length === 0 ? 'ok' : `MISSED: ${problems.join('; ')}`,
  ].join(' | ')} |`
}
