import { describe, expect } from 'bun:test'
import type { EngineTest } from '../../support/engine.ts'
import { NOW } from '../../support/samples.ts'

// Goal: the operator is told how old the last backup is, and the webhook goes on where it was. Method: read both records before
// the first entry, and after two.

/** The suite of the ports `Backups` and `Deliveries`. */
export function operatorContract(name: string, test: EngineTest): void {
  describe(`backups on ${name}`, () => {
    test('the last backup is unknown before the first, and then the time of the newest', async ({ backups }) => {
      expect(await backups.last()).toBeUndefined()
      await backups.note(NOW)
      expect(await backups.last()).toBe(NOW)
      await backups.note(NOW + 1)
      expect(await backups.last()).toBe(NOW + 1)
    })
  })

  describe(`deliveries on ${name}`, () => {
    test('the number that was delivered is unknown at first, and never goes back', async ({ deliveries }) => {
      expect(await deliveries.reached()).toBeUndefined()
      for (const [number, reached] of [
        [0, 0],
        [7, 7],
        [5, 7],
      ] as const) {
        await deliveries.reach(number)
        expect(await deliveries.reached()).toBe(reached)
      }
    })
  })
}
