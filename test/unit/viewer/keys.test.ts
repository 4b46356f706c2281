import { expect, test } from 'bun:test'
import { actionOf, type Press } from '../../../viewer/input/keys.ts'

const press = (key: string, more: Partial<Press> = {}) =>
  actionOf({ key, code: '', shiftKey: false, onWall: false, ...more })

test('the arrow keys move the wall, or a cursor over its blocks if the wall has the focus', () => {
  expect(press('ArrowLeft')).toEqual({ do: 'pan', dx: 80, dy: 0 })
  expect(press('ArrowLeft', { onWall: true })).toEqual({ do: 'walk', right: -1, down: 0 })
  expect(press('ArrowDown', { onWall: true, shiftKey: true })).toEqual({ do: 'walk', right: 0, down: 10 })
})

test('W A S D are positions on the keyboard, in any layout', () => {
  expect(press('z', { code: 'KeyW', onWall: true })).toEqual({ do: 'pan', dx: 0, dy: 80 })
  expect(press('d', { code: 'KeyD' })).toEqual({ do: 'pan', dx: -80, dy: 0 })
})

test('Enter opens a deed only if the wall has the focus', () => {
  expect(press('Enter', { onWall: true })).toEqual({ do: 'pin' })
  expect(press('Enter')).toBeUndefined()
})

test('a letter has the same effect with Caps Lock', () => {
  expect(press('T')).toEqual({ do: 'open', panel: 'time' })
  expect(press('x')).toBeUndefined()
})
