// Goal: an address is believed only as far as trusted proxies vouch for it. (client-address/1, client-address/2)

import test from 'ava'

import { clientAddress, normaliseAddress } from '#src/http/client-address'

interface Row {
  readonly socket: string
  /** PROXIES, where a row names no others. */
  readonly trusted?: readonly string[]
  readonly list?: string
  readonly forwarded?: string
  readonly expected: string
}

const PROXIES = ['10.0.0.0/8', '::1']

// One row differs from the one before it in what decides.
const rows: readonly Row[] = [
  { socket: '203.0.113.9', trusted: [], expected: '203.0.113.9' },
  { socket: '203.0.113.9', trusted: [], list: '1.1.1.1', expected: '203.0.113.9' },
  { socket: '203.0.113.9', list: '1.1.1.1', expected: '203.0.113.9' },
  { socket: '10.1.2.3', expected: '10.1.2.3' },
  { socket: '10.1.2.3', list: '1.1.1.1', expected: '1.1.1.1' },
  { socket: '10.1.2.3', list: '9.9.9.9, 1.1.1.1', expected: '1.1.1.1' },
  { socket: '10.1.2.3', list: '9.9.9.9, 1.1.1.1, 10.9.9.9', expected: '1.1.1.1' },
  { socket: '10.1.2.3', list: '10.7.7.7, 10.9.9.9', expected: '10.7.7.7' },
  {
    socket: '10.1.2.3',
    list: '9.9.9.9, nonsense, 10.9.9.9',
    expected: '10.9.9.9',
  },
  { socket: '10.1.2.3', list: '9.9.9.9,', expected: '10.1.2.3' },
  { socket: '10.1.2.3', list: '1.1.1.1:4711', expected: '1.1.1.1' },
  { socket: '10.1.2.3', list: '[2001:DB8::0:7]:4711', expected: '2001:db8::7' },
  { socket: '10.1.2.3', list: '::ffff:1.1.1.1', expected: '1.1.1.1' },
  {
    socket: '0000:0000:0000:0000:0000:ffff:0a01:0203',
    list: '1.1.1.1',
    expected: '1.1.1.1',
  },
  {
    socket: '0000:0000:0000:0000:0000:0000:0000:0001',
    list: '1.1.1.1',
    expected: '1.1.1.1',
  },
  { socket: '10.1.2.3', forwarded: 'for=1.1.1.1', expected: '1.1.1.1' },
  {
    socket: '10.1.2.3',
    forwarded: 'for=9.9.9.9, For="[2001:db8::7]:80";proto=https;by=10.1.2.3',
    expected: '2001:db8::7',
  },
  { socket: '10.1.2.3', forwarded: 'for=unknown', expected: '10.1.2.3' },
  { socket: '10.1.2.3', forwarded: 'proto=https', expected: '10.1.2.3' },
  {
    socket: '10.1.2.3',
    list: '1.1.1.1',
    forwarded: 'for=1.1.1.1',
    expected: '1.1.1.1',
  },
  {
    socket: '10.1.2.3',
    list: '1.1.1.1',
    forwarded: 'for=8.8.8.8',
    expected: '10.1.2.3',
  },
  { socket: '', trusted: [], expected: 'unknown' },
]

for (const { socket, trusted = PROXIES, list = '', forwarded = '', expected } of rows) {
  const from = `${socket} trusting [${trusted.join(' ')}] with "${list}" and "${forwarded}"`
  test(`a request from ${from} has the client address ${expected}`, (t) => {
    const headers: Record<string, string> = { 'x-forwarded-for': list, forwarded }
    const headerLines = (name: string): string => headers[name] ?? ''
    const source = { socketAddress: () => socket, headerLines }
    t.is(clientAddress(trusted)(source), expected)
  })
}

const spellings: readonly (readonly [text: string, expected: string | undefined])[] = [
  ['1.2.3.4', '1.2.3.4'],
  ['1.2.3.4:80', '1.2.3.4'],
  ['2001:db8:0:0:0:0:0:1', '2001:db8::1'],
  ['::FFFF:1.2.3.4', '1.2.3.4'],
  ['[::1]', '::1'],
  ['1.2.3', undefined],
  ['fe80::1%eth0', undefined],
  ['_hidden', undefined],
  ['', undefined],
]

for (const [text, expected] of spellings) {
  test(`the text "${text}" ${expected === undefined ? 'is no address' : `is the address ${expected}`}`, (t) => {
    t.is(normaliseAddress(text), expected)
  })
}
