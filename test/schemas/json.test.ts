// Goal: bytes become JSON strictly, and nothing that a caller sends can look like a fault.

import test from 'ava'

import { fault, isFault } from '#domain/fault'
import { readJson } from '#src/schemas/json'

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

test('what is no JSON in UTF-8 is refused without quoting it', (t) => {
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
