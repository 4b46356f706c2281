import { describe, expect } from 'bun:test'
import { keepUntil } from '../../../server/domain/wall/edit.ts'
import { hold, sell, type EngineTest } from '../../support/engine.ts'
import {
  blockOf,
  editOf,
  hash,
  identityOf,
  listingOf,
  NOW,
  paymentOf,
  pixelsOf,
  wallet,
} from '../../support/samples.ts'

// Goal: every promise of the `Blocks` port. Method: each test sells what it needs and edits through the port alone.

const block = blockOf('3,4')

/** The suite of the `Blocks` port. */
export function blocksContract(name: string, test: EngineTest): void {
  describe(`blocks on ${name}`, () => {
    test('a sold block has an owner, a face and its proof; any other has none', async (wall) => {
      await sell(wall, '3,4', 1, 1)
      await hold(wall, blockOf('5,6'), paymentOf(1, 2))
      expect(await wall.blocks.owned(block)).toEqual({
        block,
        wallet: wallet(1),
        persona: { name: 'Ada', framework: 'loom' },
        face: { pixels: pixelsOf(7), message: 'hello, wall', link: 'https://ada.example/' },
        claimedAt: NOW,
        tx: hash(1),
        settled: true,
        painter: null,
      })
      expect(await wall.blocks.owned(blockOf('5,6'))).toBeUndefined()
      expect(await wall.blocks.owned(blockOf('7,8'))).toBeUndefined()
      expect([await wall.blocks.reserved(blockOf('5,6')), await wall.blocks.reserved(blockOf('7,8'))]).toEqual([
        true,
        false,
      ])
    })

    test('an owner has the name the wallet has now, not the one it bought under', async (wall) => {
      await sell(wall, '3,4', 1, 1)
      await wall.agents.identify(wallet(1), identityOf(1, { name: 'Bob' }), NOW)
      expect((await wall.blocks.owned(block))?.persona).toEqual({ name: 'Bob', framework: 'loom' })
    })
    edits(test)
    replays(test)
  })
}

function edits(test: EngineTest): void {
  test('an edit changes what it names, clears what it sets to null, keeps the rest and is logged', async (wall) => {
    await sell(wall, '3,4', 1, 1)
    const edit = editOf(1, { pixels: pixelsOf(9), message: null })
    expect(await wall.blocks.edit(block, edit, NOW + 5)).toBe('applied')
    const face = { pixels: pixelsOf(9), message: null, link: 'https://ada.example/' }
    expect((await wall.blocks.owned(block))?.face).toEqual(face)
    expect(await wall.log.after(1, 9)).toEqual([{ number: 2, at: NOW + 5, kind: 'repaint', block, face }])
  })

  test('words can be cleared; a picture stays until there is another', async (wall) => {
    await sell(wall, '3,4', 1, 1)
    await wall.blocks.edit(block, editOf(1, { message: null, link: null }), NOW)
    expect((await wall.blocks.owned(block))?.face).toEqual({ pixels: pixelsOf(7), message: null, link: null })
  })

  test('a block that nobody owns cannot be edited, not even by the one it is held for', async (wall) => {
    await hold(wall, block, paymentOf(1, 1))
    expect(await wall.blocks.edit(block, editOf(1, { message: 'mine' }), NOW)).toBe('not-owned')
    expect(await wall.blocks.edit(blockOf('5,6'), editOf(1, { message: 'mine' }), NOW)).toBe('not-owned')
    expect(await wall.log.after(0, 9)).toEqual([])
  })
}

function replays(test: EngineTest): void {
  test('the same edit again changes nothing: repeated while it is the latest, superseded after a newer one', async (wall) => {
    await sell(wall, '3,4', 1, 1)
    const [older, newer] = [editOf(1, { message: 'older' }), editOf(2, { message: 'newer' })]
    expect(await wall.blocks.edit(block, older, NOW)).toBe('applied')
    expect(await wall.blocks.edit(block, older, NOW)).toBe('repeated')
    expect(await wall.blocks.edit(block, newer, NOW)).toBe('applied')
    expect(await wall.blocks.edit(block, older, NOW)).toBe('superseded')
    expect(await wall.blocks.edit(block, newer, NOW)).toBe('repeated')
    expect((await wall.blocks.owned(block))?.face.message).toBe('newer')
    expect(await wall.log.after(1, 9)).toHaveLength(2)
  })

  test('an edit signed before the last one applied comes too late; one signed at the same time does not', async (wall) => {
    await sell(wall, '3,4', 1, 1)
    const say = (digest: number, ts: number) =>
      wall.blocks.edit(block, { ...editOf(digest, { message: `${digest}` }), ts }, NOW)
    expect([await say(1, NOW - 5), await say(2, NOW - 6), await say(3, NOW - 5)]).toEqual([
      'applied',
      'superseded',
      'applied',
    ])
    expect((await wall.blocks.owned(block))?.face.message).toBe('3')
  })

  test('an edit by a clock that is fast keeps out nothing that is signed after it was applied', async (wall) => {
    await sell(wall, '3,4', 1, 1)
    const say = (digest: number, ts: number, now: number) =>
      wall.blocks.edit(block, { ...editOf(digest, { message: `${digest}` }), ts }, now)
    expect(await say(1, NOW + 200_000, NOW)).toBe('applied')
    expect([await say(2, NOW - 1, NOW + 1), await say(3, NOW, NOW + 1)]).toEqual(['superseded', 'applied'])
  })

  test('an edit of one block says nothing about another', async (wall) => {
    await sell(wall, '3,4', 1, 1)
    await sell(wall, '5,6', 1, 2)
    expect(await wall.blocks.edit(block, editOf(1, { message: 'a' }), NOW)).toBe('applied')
    expect(await wall.blocks.edit(blockOf('5,6'), editOf(1, { message: 'a' }), NOW)).toBe('applied')
    expect(await wall.blocks.edit(block, editOf(1, { message: 'a' }), NOW)).toBe('repeated')
  })

  test('an edit is remembered until its time is over, and no longer', async (wall) => {
    await sell(wall, '3,4', 1, 1, listingOf())
    const [older, newer] = [editOf(1, { message: 'older' }), editOf(2, { message: 'newer' })]
    await wall.blocks.edit(block, older, NOW)
    await wall.blocks.edit(block, newer, keepUntil(NOW))
    expect(await wall.blocks.edit(block, older, keepUntil(NOW))).toBe('superseded')
    await wall.blocks.edit(block, editOf(3, { message: 'newest' }), keepUntil(NOW) + 1)
    expect(await wall.blocks.edit(block, older, NOW)).toBe('applied')
  })
}
