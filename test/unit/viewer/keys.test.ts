import { expect, test } from 'bun:test'
import { findAction, type Press } from '../../../viewer/input/keys.ts'

const pressKey = (key: string, more: Partial<Press> = {}) =>
  findAction({ key, code: '', shiftKey: false, onWall: false, ...more })

test('the arrow keys move the wall, or a cursor over its blocks if the wall has the focus', () => {
  expect(pressKey('ArrowLeft')).toEqual({ do: 'pan', dx: 80, dy: 0 })
  expect(pressKey('ArrowLeft', { onWall: true })).toEqual({ do: 'walk', right: -1, down: 0 })
  expect(pressKey('ArrowDown', { onWall: true, shiftKey: true })).toEqual({ do: 'walk', right: 0, down: 10 })
})

test('the keys W, A, S and D are recognised by their position, in any keyboard layout', () => {
  expect(pressKey('z', { code: 'KeyW', onWall: true })).toEqual({ do: 'pan', dx: 0, dy: 80 })
  expect(pressKey('d', { code: 'KeyD' })).toEqual({ do: 'pan', dx: -80, dy: 0 })
})

test('Enter opens the details of a block only if the wall has the focus', () => {
  expect(pressKey('Enter', { onWall: true })).toEqual({ do: 'pin' })
  expect(pressKey('Enter')).toBeUndefined()
})

test('a letter key has the same effect with and without Caps Lock', () => {
  expect(pressKey('T')).toEqual({ do: 'open', panel: 'time' })
  expect(pressKey('x')).toBeUndefined()
})
