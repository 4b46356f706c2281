import { describe, expect } from 'bun:test'
import { reserveTarget, sellBlock, type EngineTest } from '../../support/engine.ts'
import {
  parseBlockOrThrow,
  createTestEdit,
  createTestIdentity,
  createTestListing,
  NOW,
  createTestPayment,
  SILENT,
  createWalletAddress,
} from '../../support/samples.ts'

// Goal: every promise of the `Agents` port. Method: names are read back through the blocks that the wallet owns.

const block = parseBlockOrThrow('3,4')

/** The suite of the `Agents` port. */
export function testAgents(name: string, test: EngineTest): void {
  describe(`agents on ${name}`, () => {
    test('a wallet is known once it has bought a block, but not while it has only claimed one', async (wall) => {
      await reserveTarget(wall, parseBlockOrThrow('5,6'), createTestPayment(2, 2))
      expect(await wall.agents.isKnown(createWalletAddress(2))).toBe(false)
      expect(await wall.agents.register(createWalletAddress(2), createTestIdentity(1, { name: 'Bob' }), NOW)).toBe(
        'unknown-wallet',
      )
      await sellBlock(wall, '3,4', 1, 1)
      expect(await wall.agents.isKnown(createWalletAddress(1))).toBe(true)
      expect(await wall.log.readAfter(0, 9)).toHaveLength(1)
    })

    test('an identity changes the fields that it contains, clears those that are null, keeps the rest and is logged', async (wall) => {
      await sellBlock(wall, '3,4', 1, 1)
      expect(await wall.agents.register(createWalletAddress(1), createTestIdentity(1, { name: 'Bob' }), NOW + 5)).toBe(
        'applied',
      )
      expect(
        await wall.agents.register(createWalletAddress(1), createTestIdentity(2, { framework: null }), NOW + 6),
      ).toBe('applied')
      expect((await wall.blocks.findOwned(block))?.profile).toEqual({ name: 'Bob', framework: null })
      expect(await wall.log.readAfter(1, 9)).toEqual([
        { number: 2, at: NOW + 5, kind: 'identity', agent: 1, profile: { name: 'Bob', framework: 'loom' } },
        { number: 3, at: NOW + 6, kind: 'identity', agent: 1, profile: { name: 'Bob', framework: null } },
      ])
    })

    test('a registration sent again changes nothing: it counts as repeated while it is the latest, and as superseded after a newer one', async (wall) => {
      await sellBlock(wall, '3,4', 1, 1)
      const [older, newer] = [createTestIdentity(1, { name: 'older' }), createTestIdentity(2, { name: 'newer' })]
      const registerAgent = (identity: typeof older) => wall.agents.register(createWalletAddress(1), identity, NOW)
      expect([await registerAgent(older), await registerAgent(older)]).toEqual(['applied', 'repeated'])
      expect([await registerAgent(newer), await registerAgent(older), await registerAgent(newer)]).toEqual([
        'applied',
        'superseded',
        'repeated',
      ])
      expect((await wall.blocks.findOwned(block))?.profile.name).toBe('newer')
    })

    test('a purchase with a name or framework counts as a newer registration, and a purchase without either does not', async (wall) => {
      await sellBlock(wall, '3,4', 1, 1)
      const registerName = () =>
        wall.agents.register(createWalletAddress(1), createTestIdentity(1, { name: 'Bob' }), NOW)
      await registerName()
      await sellBlock(wall, 'next', 1, 2, SILENT)
      expect(await registerName()).toBe('repeated')
      await sellBlock(wall, 'next', 1, 3, createTestListing({ name: null, framework: 'reed' }))
      expect(await registerName()).toBe('superseded')
      expect((await wall.blocks.findOwned(block))?.profile).toEqual({ name: 'Bob', framework: 'reed' })
    })

    test('a registration that was signed before the last applied one is superseded, and a repaint in between makes no difference', async (wall) => {
      await sellBlock(wall, '3,4', 1, 1)
      const registerNameAt = (digest: number, ts: number) =>
        wall.agents.register(createWalletAddress(1), { ...createTestIdentity(digest, { name: `${digest}` }), ts }, NOW)
      expect(await registerNameAt(1, NOW - 5)).toBe('applied')
      await wall.blocks.edit(block, createTestEdit(9, { message: 'x' }), NOW)
      expect([await registerNameAt(2, NOW - 6), await registerNameAt(3, NOW - 5)]).toEqual(['superseded', 'applied'])
      expect((await wall.blocks.findOwned(block))?.profile.name).toBe('3')
    })

    test('the registrations of two wallets are both applied, even if they are equal', async (wall) => {
      await sellBlock(wall, '3,4', 1, 1)
      await sellBlock(wall, '5,6', 2, 2)
      for (const payer of [1, 2])
        expect(
          await wall.agents.register(createWalletAddress(payer), createTestIdentity(1, { name: 'Bob' }), NOW),
        ).toBe('applied')
    })
  })
}
