import { expect, test } from 'bun:test'
import { actionOf, type Press } from '../../../viewer/input/keys.ts'

const press = (key: string, more: Partial<Press> = {}) =>
  actionOf({ key, code: '', shiftKey: false, onWall: false, ...more })

test('arrows move the wall, and on the wall a cursor over its blocks', () => {
  expect(press('ArrowLeft')).toEqual({ do: 'pan', dx: 80, dy: 0 })
  expect(press('ArrowLeft', { onWall: true })).toEqual({ do: 'walk', right: -1, down: 0 })
  expect(press('ArrowDown', { onWall: true, shiftKey: true })).toEqual({ do: 'walk', right: 0, down: 10 })
})

test('W A S D are places on the keyboard, whatever letters stand there', () => {
  expect(press('z', { code: 'KeyW', onWall: true })).toEqual({ do: 'pan', dx: 0, dy: 80 })
  expect(press('d', { code: 'KeyD' })).toEqual({ do: 'pan', dx: -80, dy: 0 })
})

test('Enter keeps a deed open only where the wall has the focus', () => {
  expect(press('Enter', { onWall: true })).toEqual({ do: 'pin' })
  expect(press('Enter')).toBeUndefined()
})

test('a letter means the same with Caps Lock', () => {
  expect(press('T')).toEqual({ do: 'open', panel: 'time' })
  expect(press('x')).toBeUndefined()
})
