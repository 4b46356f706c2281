import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Change } from '../../../server/domain/wall/log.ts'
import { canvasAgents, feedPage, registry, statsOf, type WallView } from '../../../server/domain/wall/wall-view.ts'
import { followLog } from '../../../server/instances/follow-log.ts'
import { anyLog, compacted } from '../../support/any-log.ts'
import { blockOf, NOW, wallet } from '../../support/samples.ts'

const FACE = { pixels: null, message: null, link: null }

const SALE: Change = {
  number: 1,
  at: NOW,
  kind: 'sale',
  seq: 1,
  block: blockOf('80,45'),
  face: FACE,
  agent: 1,
  wallet: wallet(1),
  persona: { name: null, framework: null },
}

const renamed = (number: number, name = `name ${number}`): Change => ({
  number,
  at: NOW + number,
  kind: 'identity',
  agent: 1,
  persona: { name, framework: null },
})

/** A log in memory that notes how it is read. */
function logOf(changes: Change[]) {
  const reads: { after: number; limit: number }[] = []
  let under = 0
  let underMost = 0
  return {
    changes,
    reads,
    mostAtOnce: () => underMost,
    async after(after: number, limit: number) {
      reads.push({ after, limit })
      underMost = Math.max(underMost, ++under)
      await Promise.resolve()
      under--
      return changes.filter(({ number }) => number > after).slice(0, limit)
    },
    compacted: () => Promise.resolve(compacted(changes)),
  }
}

const nameIn = (view: WallView) => canvasAgents(view)[0]?.name

describe('the view of a log', () => {
  test('is built from the compacted log, and then follows it', async () => {
    const log = logOf([SALE, renamed(2), renamed(3)])
    const follower = await followLog(log)
    expect([nameIn(follower.view), follower.view.number]).toEqual(['name 3', 3])
    log.changes.push(renamed(4))
    expect(nameIn(follower.view)).toBe('name 3')
    await follower.advance()
    expect([nameIn(follower.view), follower.view.number]).toEqual(['name 4', 4])
  })

  test('is read in pages until the log is at its end', async () => {
    const log = logOf([SALE])
    const follower = await followLog(log)
    log.changes.push(...Array.from({ length: 1200 }, (_, i) => renamed(i + 2)))
    await follower.advance()
    expect(log.reads).toEqual([
      { after: 1, limit: 500 },
      { after: 501, limit: 500 },
      { after: 1001, limit: 500 },
    ])
    expect(nameIn(follower.view)).toBe('name 1201')
  })

  test('reads once more after a page that was exactly full', async () => {
    const log = logOf([SALE])
    const follower = await followLog(log)
    log.changes.push(...Array.from({ length: 500 }, (_, i) => renamed(i + 2)))
    await follower.advance()
    expect(log.reads.map(({ after }) => after)).toEqual([1, 501])
  })

  test('applies each change once, however many ask at once', async () => {
    const log = logOf([SALE])
    const follower = await followLog(log)
    const calls = Array.from({ length: 20 }, async (_, i) => {
      log.changes.push(renamed(i + 2))
      await follower.advance()
      expect(follower.view.number).toBeGreaterThanOrEqual(i + 2)
    })
    await Promise.all(calls)
    expect(log.mostAtOnce()).toBe(1)
    expect(nameIn(follower.view)).toBe('name 21')
  })

  test('recovers from a read that failed', async () => {
    const log = logOf([SALE])
    let broken = true
    const follower = await followLog({
      compacted: log.compacted,
      after: (after, limit) => (broken ? Promise.reject(new Error('no store')) : log.after(after, limit)),
    })
    log.changes.push(renamed(2))
    await expect(follower.advance()).rejects.toThrow('no store')
    broken = false
    await follower.advance()
    expect(nameIn(follower.view)).toBe('name 2')
  })

  test('stops at a gap, and does not pass over it later', async () => {
    const log = logOf([SALE])
    const follower = await followLog(log)
    log.changes.push(renamed(3))
    await expect(follower.advance()).rejects.toThrow('the log has a gap before 3')
    await expect(follower.advance()).rejects.toThrow('the log has a gap before 3')
    log.changes.splice(1, 0, renamed(2))
    await follower.advance()
    expect(nameIn(follower.view)).toBe('name 3')
  })

  test('is the same whenever it was built', async () => {
    await fc.assert(
      fc.asyncProperty(anyLog(30), fc.nat(30), async (changes, cut) => {
        const log = logOf(changes.slice(0, cut))
        const early = await followLog(log)
        log.changes.push(...changes.slice(cut))
        await early.advance()
        const late = await followLog(log)
        const [a, b] = [early.view, late.view].map((view) => ({
          stats: statsOf(view),
          registry: registry(view),
          feed: feedPage(view, { after: 0, limit: 200 }),
        }))
        expect(a).toEqual(b)
      }),
      { numRuns: 50 },
    )
  })
})
