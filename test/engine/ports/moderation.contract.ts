import { describe, expect } from 'bun:test'
import type { BlockContent } from '../../../server/domain/wall/log.ts'
import { CONTENT_PARTS, type NamePart } from '../../../server/domain/wall/moderation.ts'
import { NOTHING_HIDDEN } from '../../support/any-log.ts'
import { reserveTarget, sellBlock, type Engine, type EngineTest } from '../../support/engine.ts'
import {
  parseBlockOrThrow,
  createTestEdit,
  createTestIdentity,
  createTestListing,
  NOW,
  createTestPayment,
  createPixels,
  createWalletAddress,
} from '../../support/samples.ts'

// Goal: no port of the store shows content that the operator hid, and none of that content is lost. Method: parts are
// hidden after, before and between an owner's edits, and blocks are read through every port that returns their content.

const block = parseBlockOrThrow('3,4')
const { name: _name, framework: _framework, painter: _painter, ...SOLD } = createTestListing()

/** The suite of the `Moderation` port. */
export function testModeration(name: string, test: EngineTest): void {
  describe(`moderation on ${name}`, () => {
    testActs(test)
    testOwners(test)
    testHistory(test)
    testWallets(test)
    testRecords(test)
  })
}

const readContent = async ({ blocks }: Engine): Promise<BlockContent | undefined> =>
  (await blocks.findOwned(block))?.content

function testActs(test: EngineTest): void {
  test('a hidden part of a block is shown as absent, and the other parts and the owner stay the same', async (wall) => {
    await sellBlock(wall, '3,4', 1, 1)
    const hidden = { ...NOTHING_HIDDEN, pixels: true }
    expect(await wall.moderation.moderate(block, 'hide', ['pixels'], NOW)).toEqual({ kind: 'applied', hidden })
    expect(await wall.blocks.findOwned(block)).toMatchObject({
      wallet: createWalletAddress(1),
      content: { ...SOLD, pixels: null },
    })
    expect(await wall.log.readAfter(1, 9)).toEqual([
      { number: 2, at: NOW, kind: 'hide', block, hidden, content: { ...SOLD, pixels: null } },
    ])
  })

  test('the parts of a block are hidden and shown independently of each other, and keep their content', async (wall) => {
    await sellBlock(wall, '3,4', 1, 1)
    await wall.moderation.moderate(block, 'hide', ['message', 'link'], NOW)
    await wall.moderation.moderate(block, 'hide', ['pixels'], NOW)
    expect(await readContent(wall)).toEqual({ pixels: null, message: null, link: null })
    await wall.moderation.moderate(block, 'unhide', ['link'], NOW)
    expect(await readContent(wall)).toEqual({ pixels: null, message: null, link: SOLD.link })
    const { kind } = await wall.moderation.moderate(block, 'unhide', CONTENT_PARTS, NOW)
    expect([kind, await readContent(wall)]).toEqual(['applied', SOLD])
  })

  test('a moderation action that changes nothing is not logged, and a block without an owner cannot be hidden', async (wall) => {
    await sellBlock(wall, '3,4', 1, 1)
    await reserveTarget(wall, parseBlockOrThrow('5,6'), createTestPayment(1, 2))
    const moderate = async (coord: string, act: 'hide' | 'unhide') =>
      (await wall.moderation.moderate(parseBlockOrThrow(coord), act, ['link'], NOW)).kind
    expect(await moderate('3,4', 'unhide')).toBe('unchanged')
    expect([await moderate('3,4', 'hide'), await moderate('3,4', 'hide')]).toEqual(['applied', 'unchanged'])
    expect([await moderate('5,6', 'hide'), await moderate('7,8', 'hide')]).toEqual(['not-owned', 'not-owned'])
    expect(await wall.log.readAfter(2, 9)).toEqual([])
  })
}

function testOwners(test: EngineTest): void {
  test('an owner’s repaint of a hidden part stays hidden until the operator shows the part again', async (wall) => {
    await sellBlock(wall, '3,4', 1, 1)
    await wall.moderation.moderate(block, 'hide', ['pixels'], NOW)
    expect(await wall.blocks.edit(block, createTestEdit(1, { pixels: createPixels(9), message: 'new' }), NOW)).toBe(
      'applied',
    )
    const seen = { ...SOLD, pixels: null, message: 'new' }
    expect(await readContent(wall)).toEqual(seen)
    expect(await wall.log.readAfter(2, 9)).toEqual([{ number: 3, at: NOW, kind: 'repaint', block, content: seen }])
    await wall.moderation.moderate(block, 'unhide', ['pixels'], NOW)
    expect(await readContent(wall)).toEqual({ ...seen, pixels: createPixels(9) })
  })

  test('an owner’s latest edit still counts as the latest after the operator hides it', async (wall) => {
    await sellBlock(wall, '3,4', 1, 1)
    const edit = createTestEdit(1, { message: 'new' })
    await wall.blocks.edit(block, edit, NOW)
    await wall.moderation.moderate(block, 'hide', ['message'], NOW)
    expect(await wall.blocks.edit(block, edit, NOW)).toBe('repeated')
  })
}

function testHistory(test: EngineTest): void {
  test('content that was hidden once never reappears in earlier entries of the full or the compacted log', async (wall) => {
    await sellBlock(wall, '3,4', 1, 1)
    await sellBlock(wall, '5,6', 2, 2)
    await wall.blocks.edit(block, createTestEdit(1, { pixels: createPixels(9) }), NOW)
    await wall.moderation.moderate(block, 'hide', ['pixels'], NOW)
    await wall.blocks.edit(block, createTestEdit(2, { pixels: createPixels(11) }), NOW)
    await wall.moderation.moderate(block, 'unhide', ['pixels'], NOW)
    const listPixels = (log: Awaited<ReturnType<Engine['log']['readAfter']>>) =>
      log.flatMap((change) => ('content' in change ? [[change.number, change.kind, change.content.pixels]] : []))
    const whole = await wall.log.readAfter(0, 99)
    expect(listPixels(whole)).toEqual([
      [1, 'sale', null],
      [2, 'sale', createPixels(7)],
      [3, 'repaint', null],
      [4, 'hide', null],
      [5, 'repaint', null],
      [6, 'unhide', createPixels(11)],
    ])
    expect(await wall.log.readCompacted()).toEqual(whole.filter(({ number }) => number !== 3))
  })
}

const listNames = (log: Awaited<ReturnType<Engine['log']['readAfter']>>) =>
  log.flatMap(({ number, kind, ...change }) => ('profile' in change ? [{ number, kind, ...change.profile }] : []))

function testWallets(test: EngineTest): void {
  const hideName = (wall: Engine, ...parts: readonly NamePart[]) =>
    wall.moderation.moderateWallet(createWalletAddress(1), { act: 'hide', parts }, NOW)
  const shown = { name: 'Ada', framework: 'loom' }

  test('the name and framework of a wallet are hidden separately, and an unhidden name is shown with its current value', async (wall) => {
    await sellBlock(wall, '3,4', 1, 1)
    await sellBlock(wall, '5,6', 2, 2)
    const hidden = { name: true, framework: false }
    expect(await hideName(wall, 'name')).toEqual({ kind: 'applied', hidden, isBanned: false })
    expect((await hideName(wall, 'name')).kind).toBe('unchanged')
    expect(await wall.blocks.findOwned(block)).toMatchObject({
      profile: { name: null, framework: 'loom' },
      content: SOLD,
    })
    expect(await wall.moderation.listWallets()).toEqual([{ wallet: createWalletAddress(1), hidden, isBanned: false }])
    expect(await wall.agents.register(createWalletAddress(1), createTestIdentity(9, { name: 'Eve' }), NOW)).toBe(
      'applied',
    )
    expect((await wall.blocks.findOwned(block))?.profile).toEqual({ name: null, framework: 'loom' })
    await wall.moderation.moderateWallet(createWalletAddress(1), { act: 'unhide', parts: ['name'] }, NOW)
    expect((await wall.blocks.findOwned(block))?.profile).toEqual({ name: 'Eve', framework: 'loom' })
    expect(await wall.moderation.listWallets()).toEqual([])
    expect((await wall.moderation.moderateWallet(createWalletAddress(7), { act: 'ban' }, NOW)).kind).toBe(
      'unknown-wallet',
    )
  })

  test('a name that was hidden once never reappears in earlier entries of the full or the compacted log', async (wall) => {
    await sellBlock(wall, '3,4', 1, 1)
    await sellBlock(wall, '5,6', 2, 2)
    await wall.agents.register(createWalletAddress(1), createTestIdentity(9, { name: 'rude' }), NOW)
    await hideName(wall, 'name')
    await wall.agents.register(createWalletAddress(1), createTestIdentity(10, { name: 'kind' }), NOW)
    const nameless = { name: null, framework: 'loom' }
    const expected = [
      { number: 1, kind: 'sale' as const, ...nameless },
      { number: 2, kind: 'sale' as const, ...shown },
      { number: 3, kind: 'identity' as const, ...nameless },
      { number: 4, kind: 'identity' as const, ...nameless },
      { number: 5, kind: 'identity' as const, ...nameless },
    ]
    expect(listNames(await wall.log.readAfter(0, 99))).toEqual(expected)
    expect((await wall.log.readAfter(3, 1))[0]).toMatchObject({ withheld: { name: true, framework: false } })
    expect(listNames(await wall.log.readCompacted())).toEqual(expected.filter(({ number }) => number !== 3))
    await wall.moderation.moderateWallet(createWalletAddress(1), { act: 'unhide', parts: ['name'] }, NOW)
    expect(listNames(await wall.log.readAfter(0, 99))).toEqual([
      ...expected,
      { number: 6, kind: 'identity', ...shown, name: 'kind' },
    ])
  })

  test('the new content of a banned wallet is hidden as it arrives, and its earlier content is not', async (wall) => {
    await sellBlock(wall, '3,4', 1, 1)
    expect((await wall.moderation.moderateWallet(createWalletAddress(1), { act: 'ban' }, NOW)).kind).toBe('applied')
    expect(await readContent(wall)).toEqual(SOLD)
    await wall.blocks.edit(block, createTestEdit(1, { message: 'rude', link: null }), NOW)
    expect(await readContent(wall)).toEqual({ ...SOLD, message: null, link: null })
    await wall.agents.register(createWalletAddress(1), createTestIdentity(9, { framework: 'rude' }), NOW)
    expect((await wall.blocks.findOwned(block))?.profile).toEqual({ name: 'Ada', framework: null })
    const { block: bought } = await sellBlock(
      wall,
      '7,8',
      1,
      3,
      createTestListing({ message: 'rude', link: null, name: null }),
    )
    const deed = await wall.blocks.findOwned(bought)
    expect(deed).toMatchObject({ wallet: createWalletAddress(1), content: { pixels: null, message: null, link: null } })
    expect(JSON.stringify([await wall.log.readAfter(0, 99), await wall.log.readCompacted()])).not.toContain('rude')
  })

  test('after a ban ends, new content is shown, except in parts hidden during the ban, which stay hidden until `unhide`', async (wall) => {
    await sellBlock(wall, '3,4', 1, 1)
    await wall.moderation.moderateWallet(createWalletAddress(1), { act: 'ban' }, NOW)
    await wall.blocks.edit(block, createTestEdit(1, { message: 'rude' }), NOW)
    expect(await wall.moderation.moderateWallet(createWalletAddress(1), { act: 'unban' }, NOW)).toMatchObject({
      isBanned: false,
    })
    await wall.blocks.edit(block, createTestEdit(2, { pixels: createPixels(9), message: 'kind' }), NOW)
    expect(await readContent(wall)).toEqual({ ...SOLD, pixels: createPixels(9), message: null })
    await wall.moderation.moderate(block, 'unhide', ['message'], NOW)
    expect((await readContent(wall))?.message).toBe('kind')
  })
}

function testRecords(test: EngineTest): void {
  test('the actions of an operator are recorded in order', async ({ moderation }) => {
    const act = { at: NOW, who: 'ada', act: 'hide', what: 'block 3,4', parts: 'pixels', why: null } as const
    const other = {
      ...act,
      who: 'bob',
      act: 'ban',
      what: `wallet ${createWalletAddress(1)}`,
      parts: '',
      why: 'spam',
    } as const
    await moderation.recordAct(act)
    await moderation.recordAct(other)
    expect(await moderation.listRecords()).toEqual([act, other])
  })
}
