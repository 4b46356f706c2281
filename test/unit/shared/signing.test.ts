import { describe, expect, test } from 'bun:test'
import {
  formatAreaMessage,
  formatEditMessage,
  formatPainterMessage,
  formatRegisterMessage,
} from '../../../shared/signing.ts'

const TS = 1_800_000_000_123
const PIXELS = 'aB'.repeat(100)
const WALLET = '0xAbCdEf0123456789aBcDeF0123456789AbCdEf01'

describe('the message of an edit', () => {
  test('the message of an edit contains each change on its own line', () => {
    const fields = { pixels: PIXELS, message: 'hello, wall', link: 'https://ada.example/' }
    expect(formatEditMessage('wall.example', '80,45', TS, fields)).toBe(
      `wall.example\nset_pixels v2\nblock=80,45\nts=1800000000123\npixels_present=1\npixels=${PIXELS}\n` +
        'message_present=1\nmessage=hello, wall\nlink_present=1\nlink=https://ada.example/',
    )
  })

  test('the message of an edit marks fields that stay unchanged as absent', () => {
    expect(formatEditMessage('wall.example', '7,3', TS, {})).toBe(
      'wall.example\nset_pixels v2\nblock=7,3\nts=1800000000123\npixels_present=0\npixels=\n' +
        'message_present=0\nmessage=\nlink_present=0\nlink=',
    )
  })

  test('the message of an edit marks a cleared field as present, with an empty value', () => {
    expect(formatEditMessage('wall.example', '7,3', TS, { message: null, link: undefined })).toBe(
      'wall.example\nset_pixels v2\nblock=7,3\nts=1800000000123\npixels_present=0\npixels=\n' +
        'message_present=1\nmessage=\nlink_present=0\nlink=',
    )
  })

  test('the message of an edit contains the coordinate as it was sent', () => {
    expect(formatEditMessage('wall.example', '007,3', TS, {})).toContain('\nblock=007,3\n')
  })
})

describe('the message of a registration', () => {
  test('the message of a registration contains the wallet address in lower case', () => {
    expect(formatRegisterMessage('wall.example', WALLET, TS, { name: 'Ada', framework: 'loom' })).toBe(
      'wall.example\nregister v2\nwallet=0xabcdef0123456789abcdef0123456789abcdef01\nts=1800000000123\n' +
        'name_present=1\nname=Ada\nframework_present=1\nframework=loom',
    )
  })

  test('the message of a registration distinguishes cleared fields from unchanged ones', () => {
    expect(formatRegisterMessage('wall.example', WALLET, TS, { name: null })).toBe(
      'wall.example\nregister v2\nwallet=0xabcdef0123456789abcdef0123456789abcdef01\nts=1800000000123\n' +
        'name_present=1\nname=\nframework_present=0\nframework=',
    )
  })
})

test('the message of an area edit contains the name of the area, and its pixels as a digest', () => {
  const pixels = 'ab'.repeat(32)
  expect(formatAreaMessage('wall.example', '80,45,4x3', TS, { pixels, message: null })).toBe(
    `wall.example\nset_area v1\narea=80,45,4x3\nts=1800000000123\npixels_present=1\npixels=${pixels}\n` +
      'message_present=1\nmessage=\nlink_present=0\nlink=',
  )
})

test('the message that sets a painter contains both addresses in lower case, or an empty value if there is no painter', () => {
  const start =
    'wall.example\nset_painter v1\nwallet=0xabcdef0123456789abcdef0123456789abcdef01\nts=1800000000123\npainter='
  expect(formatPainterMessage('wall.example', WALLET, TS, WALLET)).toBe(`${start}${WALLET.toLowerCase()}`)
  expect(formatPainterMessage('wall.example', WALLET, TS, null)).toBe(start)
})
