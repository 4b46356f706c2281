import { expect, test } from 'bun:test'
import { createAddressReader } from '../../../server/http/request/clients.ts'

const readAddress = (peer: string | undefined, forwarded?: string, trustedHops?: number) =>
  createAddressReader({ getPeer: () => peer, trustedHops })(
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
])(
  'without X-Forwarded-For, a client connected from %p is identified by its IPv4 address or IPv6 /64 network, if known',
  (peer, forwarded, hops, address) => {
    expect(readAddress(peer, forwarded, hops)).toBe(address)
  },
)

test('only a proxy on this machine is trusted by default, and only for the last entry of X-Forwarded-For', () => {
  expect(readAddress('127.0.0.1', '203.0.113.9')).toBe('203.0.113.9')
  expect(readAddress('::1', '198.51.100.1, 203.0.113.9')).toBe('203.0.113.9')
  expect(readAddress('127.0.0.1')).toBe('127.0.0.1')
  expect(readAddress('198.51.100.7', '203.0.113.9')).toBe('198.51.100.7')
})

test('the wall trusts the configured number of proxies, and trusts none if the number is 0', () => {
  expect(readAddress('127.0.0.1', '203.0.113.9', 0)).toBe('127.0.0.1')
  expect(readAddress('10.0.0.2', '192.0.2.1, 203.0.113.9, 10.0.0.1', 2)).toBe('203.0.113.9')
  expect(readAddress('10.0.0.2', '203.0.113.9', 3)).toBe('203.0.113.9')
  expect(readAddress('10.0.0.2', undefined, 1)).toBe('10.0.0.2')
})

test.each(['nonsense', '', ' , ', '999.1.1.1', '2001:db8::1::2', '[2001:db8::1'])(
  'if a trusted proxy forwards %p, which is not an address, the proxy’s own address is used',
  (forwarded) => {
    expect(readAddress('10.0.0.2', forwarded, 1)).toBe('10.0.0.2')
  },
)

test('ports and brackets in X-Forwarded-For are not part of a client’s address', () => {
  expect(readAddress('10.0.0.2', '203.0.113.9:5500', 1)).toBe('203.0.113.9')
  expect(readAddress('10.0.0.2', '[2001:db8::1]:5500', 1)).toBe('2001:db8:0:0::/64')
})
