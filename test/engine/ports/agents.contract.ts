import { describe, expect } from 'bun:test'
import { reserve, sell, type EngineTest } from '../../support/engine.ts'
import {
  blockOf,
  createTestEdit,
  createTestIdentity,
  createTestListing,
  NOW,
  createTestPayment,
  SILENT,
  createWalletAddress,
} from '../../support/samples.ts'

// Goal: every promise of the `Agents` port. Method: names are read back through the blocks that the wallet owns.

const block = blockOf('3,4')

/** The suite of the `Agents` port. */
export function testAgents(name: string, test: EngineTest): void {
  describe(`agents on ${name}`, () => {
    test('a wallet is known from its first sale on, not from its first claim', async (wall) => {
      await reserve(wall, blockOf('5,6'), createTestPayment(2, 2))
      expect(await wall.agents.isKnown(createWalletAddress(2))).toBe(false)
      expect(await wall.agents.register(createWalletAddress(2), createTestIdentity(1, { name: 'Bob' }), NOW)).toBe(
        'unknown-wallet',
      )
      await sell(wall, '3,4', 1, 1)
      expect(await wall.agents.isKnown(createWalletAddress(1))).toBe(true)
      expect(await wall.log.readAfter(0, 9)).toHaveLength(1)
    })

    test('an identity changes the fields that it contains, clears those that are null, keeps the rest and is logged', async (wall) => {
      await sell(wall, '3,4', 1, 1)
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
      await sell(wall, '3,4', 1, 1)
      const [older, newer] = [createTestIdentity(1, { name: 'older' }), createTestIdentity(2, { name: 'newer' })]
      const identifyAgent = (identity: typeof older) => wall.agents.register(createWalletAddress(1), identity, NOW)
      expect([await identifyAgent(older), await identifyAgent(older)]).toEqual(['applied', 'repeated'])
      expect([await identifyAgent(newer), await identifyAgent(older), await identifyAgent(newer)]).toEqual([
        'applied',
        'superseded',
        'repeated',
      ])
      expect((await wall.blocks.findOwned(block))?.profile.name).toBe('newer')
    })

    test('a purchase with a name or framework counts as a newer registration, and a purchase without either does not', async (wall) => {
      await sell(wall, '3,4', 1, 1)
      const registerName = () =>
        wall.agents.register(createWalletAddress(1), createTestIdentity(1, { name: 'Bob' }), NOW)
      await registerName()
      await sell(wall, 'next', 1, 2, SILENT)
      expect(await registerName()).toBe('repeated')
      await sell(wall, 'next', 1, 3, createTestListing({ name: null, framework: 'reed' }))
      expect(await registerName()).toBe('superseded')
      expect((await wall.blocks.findOwned(block))?.profile).toEqual({ name: 'Bob', framework: 'reed' })
    })

    test('a registration that was signed before the last applied one is superseded, whatever was repainted since', async (wall) => {
      await sell(wall, '3,4', 1, 1)
      const say = (digest: number, ts: number) =>
        wall.agents.register(createWalletAddress(1), { ...createTestIdentity(digest, { name: `${digest}` }), ts }, NOW)
      expect(await say(1, NOW - 5)).toBe('applied')
      await wall.blocks.edit(block, createTestEdit(9, { message: 'x' }), NOW)
      expect([await say(2, NOW - 6), await say(3, NOW - 5)]).toEqual(['superseded', 'applied'])
      expect((await wall.blocks.findOwned(block))?.profile.name).toBe('3')
    })

    test('the registrations of two wallets are both applied, even if they are equal', async (wall) => {
      await sell(wall, '3,4', 1, 1)
      await sell(wall, '5,6', 2, 2)
      for (const payer of [1, 2])
        expect(
          await wall.agents.register(createWalletAddress(payer), createTestIdentity(1, { name: 'Bob' }), NOW),
        ).toBe('applied')
    })
  })
}
