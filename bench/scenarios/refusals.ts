/** The demand for payment, against the cheapest answer there is, and against the x402 SDK making it each time. */

import { rowsOf, type Scenario } from '../findings.ts'
import { requestBytes } from '../measure/load.ts'
import { pair, timesAsCheap } from '../measure/pair.ts'

const SOLD = 1000

export const demands: Scenario = async (servers, pace) => {
  const [wall, naive] = [await servers.wall(SOLD), await servers.naive(SOLD)]
  const always = (path: string) => {
    const bytes = requestBytes('GET', path)
    return () => () => bytes
  }
  // Blocks of the first row, which a wall sells last.
  const blocks = Array.from({ length: 160 }, (_, column) => requestBytes('GET', `/blocks/${column},0`))
  const inTurn = () => {
    let at = 0
    return () => blocks[at++ % blocks.length]
  }
  const samples = await pair(
    [
      { name: 'hello, status 200', server: naive, status: 200, requests: always('/hello') },
      { name: 'the SDK, each time', server: naive, status: 402, requests: always('/sdk') },
      { name: 'this wall, 160 blocks', server: wall, status: 402, requests: inTurn },
    ],
    pace,
  )
  return {
    rows: rowsOf(samples),
    ratios: {
      '402: times hello': timesAsCheap(samples, 'this wall, 160 blocks', 'hello, status 200'),
      '402: times the SDK': timesAsCheap(samples, 'this wall, 160 blocks', 'the SDK, each time'),
    },
  }
}
