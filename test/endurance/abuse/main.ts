/** `bun run abuse [--seconds N] [--only FLOOD] [--buyers N]`: floods a real wall in every way, and tells what everybody else had of it. */

import { parseArgs } from 'node:util'
import { memoryMib } from '../connections/connections.ts'
import { FLOODS, type FloodName } from './floods.ts'
import { openScene, type Effect } from './scene.ts'

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
const isFlood = (name: string): name is FloodName => Object.hasOwn(FLOODS, name)
const names = Object.keys(FLOODS)
  .filter(isFlood)
  .filter((name) => values.only === undefined || name === values.only)

const scene = await openScene(Number(values.changes))
try {
  await scene.idle(IDLE_MS)
  const { healthP50, healthP99 } = await scene.idle(IDLE_MS)
  console.log(
    `idle: health p50 ${healthP50.toFixed(1)} ms, p99 ${healthP99.toFixed(1)} ms; under a flood p99 may be ${HEALTH_P99_MAX_MS} ms`,
  )
  console.log(
    '| flood | addresses | health p50, p99 ms | answers | bought, painted | buy p50 ms | verify | RPC | log | rail | MiB |',
  )
  console.log('|---|--:|--:|---|--:|--:|--:|--:|--:|---|--:|')
  for (const name of names)
    for (const addresses of ADDRESSES) {
      const effect = await scene.flood(name, { ms, addresses, connectionsMax: 1000, buyers })
      console.log(rowOf(name, addresses, effect, await memoryMib(scene.pid())))
      for (const problem of problemsOf(effect)) console.log(`  ${problem}`)
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

function rowOf(name: string, addresses: number, effect: Effect, mib: number): string {
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
  ].join(' | ')} |`
}
