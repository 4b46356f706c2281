import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { isInMemory } from '../../support/machine.ts'

describe.skipIf(!existsSync('/dev/shm'))('whether a folder is in memory', () => {
  test('a folder in shared memory is in memory', () => {
    expect(isInMemory('/dev/shm')).toBe(true)
  })

  test('a folder of another file system is not in memory', () => {
    expect(isInMemory('/proc')).toBe(false)
  })
})
