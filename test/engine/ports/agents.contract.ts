import { describe, expect } from 'bun:test'
import { hold, sell, type EngineTest } from '../../support/engine.ts'
import {
  blockOf,
  editOf,
  identityOf,
  listingOf,
  NOW,
  paymentOf,
  SILENT,
  createWalletAddress,
} from '../../support/samples.ts'

// Goal: every promise of the `Agents` port. Method: names are read back through the blocks that the wallet owns.

const block = blockOf('3,4')

/** The suite of the `Agents` port. */
export function testAgents(name: string, test: EngineTest): void {
  describe(`agents on ${name}`, () => {
    test('a wallet is known from its first sale on, not from its first claim', async (wall) => {
      await hold(wall, blockOf('5,6'), paymentOf(2, 2))
      expect(await wall.agents.knows(createWalletAddress(2))).toBe(false)
      expect(await wall.agents.identify(createWalletAddress(2), identityOf(1, { name: 'Bob' }), NOW)).toBe(
        'unknown-wallet',
      )
      await sell(wall, '3,4', 1, 1)
      expect(await wall.agents.knows(createWalletAddress(1))).toBe(true)
      expect(await wall.log.after(0, 9)).toHaveLength(1)
    })

    test('an identity changes what it names, clears what it sets to null, keeps the rest and is logged', async (wall) => {
      await sell(wall, '3,4', 1, 1)
      expect(await wall.agents.identify(createWalletAddress(1), identityOf(1, { name: 'Bob' }), NOW + 5)).toBe(
        'applied',
      )
      expect(await wall.agents.identify(createWalletAddress(1), identityOf(2, { framework: null }), NOW + 6)).toBe(
        'applied',
      )
      expect((await wall.blocks.owned(block))?.profile).toEqual({ name: 'Bob', framework: null })
      expect(await wall.log.after(1, 9)).toEqual([
        { number: 2, at: NOW + 5, kind: 'identity', agent: 1, profile: { name: 'Bob', framework: 'loom' } },
        { number: 3, at: NOW + 6, kind: 'identity', agent: 1, profile: { name: 'Bob', framework: null } },
      ])
    })

    test('a registration sent again changes nothing: it counts as repeated while it is the latest, and as superseded after a newer one', async (wall) => {
      await sell(wall, '3,4', 1, 1)
      const [older, newer] = [identityOf(1, { name: 'older' }), identityOf(2, { name: 'newer' })]
      const say = (identity: typeof older) => wall.agents.identify(createWalletAddress(1), identity, NOW)
      expect([await say(older), await say(older)]).toEqual(['applied', 'repeated'])
      expect([await say(newer), await say(older), await say(newer)]).toEqual(['applied', 'superseded', 'repeated'])
      expect((await wall.blocks.owned(block))?.profile.name).toBe('newer')
    })

    test('a purchase with a name counts as a newer registration, and one without a name does not', async (wall) => {
      await sell(wall, '3,4', 1, 1)
      const say = () => wall.agents.identify(createWalletAddress(1), identityOf(1, { name: 'Bob' }), NOW)
      await say()
      await sell(wall, 'next', 1, 2, SILENT)
      expect(await say()).toBe('repeated')
      await sell(wall, 'next', 1, 3, listingOf({ name: null, framework: 'reed' }))
      expect(await say()).toBe('superseded')
      expect((await wall.blocks.owned(block))?.profile).toEqual({ name: 'Bob', framework: 'reed' })
    })

    test('a registration that is older than the last applied one is rejected as late, whatever was repainted since', async (wall) => {
      await sell(wall, '3,4', 1, 1)
      const say = (digest: number, ts: number) =>
        wall.agents.identify(createWalletAddress(1), { ...identityOf(digest, { name: `${digest}` }), ts }, NOW)
      expect(await say(1, NOW - 5)).toBe('applied')
      await wall.blocks.edit(block, editOf(9, { message: 'x' }), NOW)
      expect([await say(2, NOW - 6), await say(3, NOW - 5)]).toEqual(['superseded', 'applied'])
      expect((await wall.blocks.owned(block))?.profile.name).toBe('3')
    })

    test('a registration of one wallet does not affect another one', async (wall) => {
      await sell(wall, '3,4', 1, 1)
      await sell(wall, '5,6', 2, 2)
      for (const payer of [1, 2])
        expect(await wall.agents.identify(createWalletAddress(payer), identityOf(1, { name: 'Bob' }), NOW)).toBe(
          'applied',
        )
    })
  })
}
