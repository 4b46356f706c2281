import { expect, test } from 'bun:test'
import { findFocus } from '../../../viewer/ui/dom.ts'

test('when a list is refilled, the focus stays on the same artwork, even if its position has changed', () => {
  expect(findFocus(['work 1', 'work 2'], 1, ['work 9', 'work 1', 'work 2'])).toBe(2)
  expect(findFocus([undefined, 'work 2', undefined], 1, [undefined, 'work 9', 'work 2'])).toBe(2)
})

test('if the focused artwork is gone or the focused control has no key, the focus stays at its position, or at the last position of a shorter list', () => {
  expect(findFocus([undefined, 'work 1', 'work 2'], 2, [undefined, 'work 1', 'work 9'])).toBe(2)
  expect(findFocus([undefined, undefined, 'work 1'], 1, [undefined, undefined, 'work 9'])).toBe(1)
  expect(findFocus(['work 1', 'work 2'], 1, ['work 1'])).toBe(0)
})
