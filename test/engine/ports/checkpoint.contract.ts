import { describe, expect } from 'bun:test'
import type { EngineTest } from '../../support/engine.ts'

/** The suite of the `ChainCheckpoint` port. */
export function testCheckpoint(name: string, test: EngineTest): void {
  describe(`the checkpoint on ${name}`, () => {
    test('the height of the checkpoint is unknown at first, and never decreases', async (wall) => {
      expect(await wall.checkpoint.readHeight()).toBeUndefined()
      for (const [height, reached] of [
        [7n, 7n],
        [5n, 7n],
        [9n, 9n],
      ] as const) {
        await wall.checkpoint.advanceTo(height)
        expect(await wall.checkpoint.readHeight()).toBe(reached)
      }
    })
  })
}
