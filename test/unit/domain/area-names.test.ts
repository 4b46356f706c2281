import { expect, test } from 'bun:test'
import { statusOf } from '../../../server/domain/failure.ts'
import { invalidArea } from '../../../server/domain/purchase/refusals.ts'
import { parseArea } from '../../../shared/area.ts'

test('whoever names no area is shown how one is named', () => {
  const { code, message } = invalidArea()
  expect(code).toBe('invalid_area')
  expect(statusOf[code]).toBe(400)
  expect(parseArea(/\d+,\d+,\d+x\d+/.exec(message)?.[0] ?? '')).toBeDefined()
})
