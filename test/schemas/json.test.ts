// Goal: bytes become JSON strictly, and nothing that a caller sends can look like a fault.

import test from 'ava'

import { fault, isFault } from '#domain/fault'
import { mayHoldAlteredNumber } from '#src/schemas/json/exact-json'
import { readJson } from '#src/schemas/json/json'

const bytes = (text: string) => new TextEncoder().encode(text)

const values: readonly (readonly [text: string, value: unknown])[] = [
  ['{}', {}],
  [' [1,null,"é🌍"] ', [1, null, 'é🌍']],
  ['"x"', 'x'],
  ['1e2', 100],
  ['null', null],
  ['\ufeff{"a":1}', { a: 1 }],
  ['{"a":1,"a":2}', { a: 2 }],
]

test('a JSON text gives its value; of a repeated member the last one counts', (t) => {
  for (const [text, value] of values) t.deepEqual(readJson(bytes(text)), value, text)
})

const broken: readonly Uint8Array[] = [
  bytes(''),
  bytes(' '),
  bytes('{'),
  bytes("{'a':1}"),
  bytes('{"a":1,}'),
  bytes('{"a":NaN}'),
  bytes('{}{}'),
  bytes('\u00a0{}'),
  Uint8Array.of(0x22, 0xff, 0x22),
  Uint8Array.of(0x22, 0xc0, 0x80, 0x22),
  // Half a surrogate pair in UTF-8, and a character cut short.
  Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22),
  Uint8Array.of(0x22, 0xe2, 0x82, 0x22),
]

test('bytes that are no JSON in UTF-8 are refused without quoting them', (t) => {
  for (const input of broken) {
    t.deepEqual(readJson(input), fault('invalid_json_syntax'), String(input))
  }
})

test('deep nesting is read without harm', (t) => {
  t.true(Array.isArray(readJson(bytes('['.repeat(16_000) + ']'.repeat(16_000)))))
})

test('a body that calls itself a fault is no fault, and keeps every member', (t) => {
  const body = '{"kind":"fault","code":"internal_error","__proto__":{"a":1}}'
  const read = readJson(bytes(body))
  t.false(isFault(read))
  t.is(JSON.stringify(read), body)
})

// The text of a number, and whether it goes on as what it was.
const numbers: readonly (readonly [text: string, isKept: boolean])[] = [
  ['9007199254740992', true],
  ['9007199254740993', false],
  ['-9007199254740993', false],
  ['9007199254740993.0', true],
  ['9007199254740993e0', true],
  ['90071992547409.93E+2', true],
  ['9007199254740994', true],
  ['999999999999999', true],
  ['1152921504606846976', false],
  ['10000000000000000', true],
  ['100000000000000000000', true],
  ['1000000000000000000000', false],
  ['1.2345678901234567e+25', true],
  ['12345678901234567890', false],
  ['1234567890123456789012345678901234567890', false],
  ['0.30000000000000004', true],
  ['1.0000000000000000001', true],
  ['21.299999999999997', true],
  ['-0', true],
  ['1e300', true],
]

test('exact-json/1: a whole number that would go on as another one is read as no number', (t) => {
  for (const [text, isKept] of numbers) {
    for (const pad of ['', ' ', ' '.repeat(7), ' '.repeat(15)]) {
      const read = readJson(bytes(`${pad}{"a":[{"b":${text}}],"c":1}`))
      t.deepEqual(read, { a: [{ b: isKept ? Number(text) : NaN }], c: 1 }, `${pad}${text}`)
    }
  }
})

test('exact-json/1: a number beyond every double is infinite, and digits in a text stay', (t) => {
  const digits = '9'.repeat(400)
  t.deepEqual(readJson(bytes(`{"a":1e400,"b":${digits},"c":"${digits}","${digits}":1}`)), {
    a: Infinity,
    b: Infinity,
    c: digits,
    [digits]: 1,
  })
})

test('exact-json/1: nesting that is too deep to be looked through is refused', (t) => {
  const deep = bytes(`${'['.repeat(16_000)}9007199254740993${']'.repeat(16_000)}`)
  t.like(readJson(deep), { code: 'invalid_json_syntax' })
})

test('every place of a number within the bytes is found', (t) => {
  for (let at = 0; at < 64; at += 1) {
    const body = bytes(`"${'x'.repeat(at)}",9007199254740993,"${'x'.repeat(64 - at)}"`)
    t.true(mayHoldAlteredNumber(body), String(at))
  }
  t.false(mayHoldAlteredNumber(bytes('{"at":1763684000123,"x":0.30000000000000004,"y":-123.456}')))
})

test('digits of a safe whole number, or of a fraction, need no second look', (t) => {
  for (const digits of ['1795355511741000', '-9007199254740991']) {
    t.false(mayHoldAlteredNumber(bytes(`{"measured_at":${digits},"next":${digits}}`)), digits)
  }
  t.false(mayHoldAlteredNumber(bytes(`{"share":0.${'1'.repeat(100_000)}}`)))
  t.true(mayHoldAlteredNumber(bytes(`{"share":0.${'1'.repeat(50)},"count":9007199254740993}`)))
})
