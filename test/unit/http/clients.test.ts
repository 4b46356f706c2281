import { expect, test } from 'bun:test'
import { createAddressReader } from '../../../server/http/request/clients.ts'

const readAddress = (peer: string | undefined, forwarded?: string, trustedHops?: number) =>
  createAddressReader({ peerOf: () => peer, trustedHops })(
    new Request('http://wall.test/', forwarded === undefined ? {} : { headers: { 'x-forwarded-for': forwarded } }),
  )

test.each([
  ['198.51.100.7', undefined, undefined, '198.51.100.7'],
  ['::ffff:198.51.100.7', undefined, undefined, '198.51.100.7'],
  ['2001:db8:1:2:3:4:5:6', undefined, undefined, '2001:db8:1:2::/64'],
  ['2001:db8::1', undefined, undefined, '2001:db8:0:0::/64'],
  ['2001:0DB8:0:0:9::', undefined, undefined, '2001:db8:0:0::/64'],
  ['fe80::1%eth0', undefined, undefined, 'fe80:0:0:0::/64'],
  [undefined, undefined, undefined, ''],
])('a client at %p is identified by its own address', (peer, forwarded, hops, address) => {
  expect(readAddress(peer, forwarded, hops)).toBe(address)
})

test('without a setting, only a proxy on this machine is trusted, and only its own entry', () => {
  expect(readAddress('127.0.0.1', '203.0.113.9')).toBe('203.0.113.9')
  expect(readAddress('::1', '198.51.100.1, 203.0.113.9')).toBe('203.0.113.9')
  expect(readAddress('127.0.0.1')).toBe('127.0.0.1')
  expect(readAddress('198.51.100.7', '203.0.113.9')).toBe('198.51.100.7')
})

test('the configured number of proxies is trusted, and none with 0', () => {
  expect(readAddress('127.0.0.1', '203.0.113.9', 0)).toBe('127.0.0.1')
  expect(readAddress('10.0.0.2', '192.0.2.1, 203.0.113.9, 10.0.0.1', 2)).toBe('203.0.113.9')
  expect(readAddress('10.0.0.2', '203.0.113.9', 3)).toBe('203.0.113.9')
  expect(readAddress('10.0.0.2', undefined, 1)).toBe('10.0.0.2')
})

test.each(['nonsense', '', ' , ', '999.1.1.1', '2001:db8::1::2', '[2001:db8::1'])(
  'an entry of a proxy that is not an address is not trusted: %p',
  (forwarded) => {
    expect(readAddress('10.0.0.2', forwarded, 1)).toBe('10.0.0.2')
  },
)

test('ports and brackets that proxies write are not part of an address', () => {
  expect(readAddress('10.0.0.2', '203.0.113.9:5500', 1)).toBe('203.0.113.9')
  expect(readAddress('10.0.0.2', '[2001:db8::1]:5500', 1)).toBe('2001:db8:0:0::/64')
})
