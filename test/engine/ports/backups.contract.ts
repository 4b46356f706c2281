import { describe, expect } from 'bun:test'
import type { EngineTest } from '../../support/engine.ts'
import { NOW } from '../../support/samples.ts'

// Goal: the operator is told how old the last backup is. Method: read the record before the first backup, and after two.

/** The suite of the `Backups` port. */
export function backupsContract(name: string, test: EngineTest): void {
  describe(`backups on ${name}`, () => {
    test('the last backup is unknown before the first, and then the time of the newest', async ({ backups }) => {
      expect(await backups.last()).toBeUndefined()
      await backups.note(NOW)
      expect(await backups.last()).toBe(NOW)
      await backups.note(NOW + 1)
      expect(await backups.last()).toBe(NOW + 1)
    })
  })
}
