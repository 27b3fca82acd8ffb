import * as fc from 'fast-check'
import test from 'ava'

import { readProxyHeader } from '#src/doors/proxy-protocol'
import { V2, v2 } from '#test/support/proxy-header'

const header = (length: number, address: string | undefined) => ({
  kind: 'header',
  length,
  address,
})
const v1 = (line: string): Buffer => Buffer.from(`${line}\r\n`)
const broken = { kind: 'broken' }
const none = { kind: 'none' }
const more = { kind: 'more' }
const LONGEST = `PROXY TCP6 ${'ffff:'.repeat(7)}ffff ${'ffff:'.repeat(7)}ffff 65535 65535`
const IPV4 = [192, 0, 2, 7, 10, 0, 0, 1, 0, 80, 1, 187]
const IPV6 = [32, 1, 13, 184, ...Array.from({ length: 11 }, () => 0), 7]

const rows: readonly (readonly [name: string, bytes: Buffer, expected: object])[] = [
  ['TCP4', v1('PROXY TCP4 192.0.2.7 10.0.0.1 56324 443'), header(41, '192.0.2.7')],
  ['TCP6', v1('PROXY TCP6 2001:db8::7 ::1 1 443'), header(34, '2001:db8::7')],
  ['the longest line', v1(LONGEST), header(LONGEST.length + 2, `${'ffff:'.repeat(7)}ffff`)],
  ['UNKNOWN', v1('PROXY UNKNOWN'), header(15, undefined)],
  ['UNKNOWN with anything behind', v1('PROXY UNKNOWN a b c'), header(21, undefined)],
  ['a line with a frame behind', Buffer.from('PROXY UNKNOWN\r\nxyz'), header(15, undefined)],
  ['half a start', Buffer.from('PRO'), more],
  ['half a line', Buffer.from('PROXY TCP4 192.0.2.7'), more],
  ['a line without an end', Buffer.from(`PROXY ${'x'.repeat(101)}`), broken],
  ['an address of the other family', v1('PROXY TCP4 ::1 ::1 1 2'), broken],
  ['no address', v1('PROXY TCP4 example.org 10.0.0.1 1 2'), broken],
  ['a port too many', v1('PROXY TCP4 192.0.2.7 10.0.0.1 1 2 3'), broken],
  ['a port too few', v1('PROXY TCP4 192.0.2.7 10.0.0.1 1'), broken],
  ['a port that is none', v1('PROXY TCP4 192.0.2.7 10.0.0.1 1 65536'), broken],
  ['a port with a sign', v1('PROXY TCP4 192.0.2.7 10.0.0.1 +1 2'), broken],
  ['another family', v1('PROXY UDP4 192.0.2.7 10.0.0.1 1 2'), broken],
  ['v2 over IPv4', v2(0x21, 0x11, IPV4), header(28, '192.0.2.7')],
  ['v2 over IPv4, datagrams', v2(0x21, 0x12, IPV4), header(28, '192.0.2.7')],
  [
    'v2 over IPv6',
    v2(0x21, 0x21, [...IPV6, ...IPV6, 0, 80, 1, 187]),
    header(52, '2001:db8:0:0:0:0:0:7'),
  ],
  ['v2 with additions', v2(0x21, 0x11, [...IPV4, 4, 0, 1, 0]), header(32, '192.0.2.7')],
  ['v2, the proxy itself', v2(0x20, 0x11, IPV4), header(28, undefined)],
  ['v2 without a family', v2(0x21, 0x00, []), header(16, undefined)],
  ['v2, a socket of the machine', v2(0x21, 0x31, [1, 2]), header(18, undefined)],
  ['half a start of v2', V2.subarray(0, 5), more],
  ['half a head of v2', v2(0x21, 0x11, IPV4).subarray(0, 15), more],
  ['half of v2', v2(0x21, 0x11, IPV4).subarray(0, 27), more],
  ['v2 with too few bytes of address', v2(0x21, 0x11, IPV4.slice(1)), broken],
  ['v2 of another version', v2(0x11, 0x11, IPV4), broken],
  ['v2 with another command', v2(0x22, 0x11, IPV4), broken],
  ['v2 with another family', v2(0x21, 0x41, IPV4), broken],
  [
    'v2 of 4,096 bytes',
    v2(
      0x20,
      0x00,
      Array.from({ length: 4_096 }, () => 0),
    ),
    header(4_112, undefined),
  ],
  [
    'v2 of 4,097 bytes',
    v2(
      0x20,
      0x00,
      Array.from({ length: 4_097 }, () => 0),
    ),
    broken,
  ],
  ['the length of a frame', Buffer.from([0, 0, 0, 9]), none],
  ['the beginning of TLS', Buffer.from([0x16, 3, 1]), none],
  ['other text', Buffer.from('PROXIES'), none],
]

for (const [name, bytes, expected] of rows) {
  test(`a PROXY header: ${name}`, (t) => t.deepEqual(readProxyHeader(bytes), expected as never))
}

test('readProxyHeader never throws, and finds the same header with more bytes behind it', (t) => {
  const starts = fc.constantFrom(Buffer.alloc(0), Buffer.from('PROXY TCP4 '), V2)
  const property = fc.property(starts, fc.uint8Array({ maxLength: 200 }), (start, rest) => {
    const bytes = Buffer.concat([start, rest])
    const found = readProxyHeader(bytes)
    const again = readProxyHeader(Buffer.concat([bytes, Buffer.from('x')]))
    if (found.kind !== 'more') t.deepEqual(again, found)
  })
  t.notThrows(() => fc.assert(property, { numRuns: 500 }))
})
