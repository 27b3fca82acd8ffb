// Goal: single values are read as decisions.md 3 says. Method: one row a spelling.

import test from 'ava'

import { isFault } from '#domain/fault'
import {
  isLonger,
  readChannelId,
  readPassword,
  readText,
  readTime,
  utf8Bytes,
} from '#src/schemas/values'
import { readLimit, readWhole } from '#src/schemas/values'
import { bytesOfText, CHANNEL } from '#test/support/making'

const REFUSED = 'invalid_timestamp'

// Sent, and the milliseconds read, or the code.
const times: readonly (readonly [sent: number | string, read: number | string])[] = [
  [0, 0],
  [-0, 0],
  [1, 1_000],
  [1_763_684_000, 1_763_684_000_000],
  [1_763_684_000_123, 1_763_684_000_123],
  [253_402_300_799, 253_402_300_799_000],
  [253_402_300_800, REFUSED],
  [999_999_999_999, REFUSED],
  [1_000_000_000_000, 1_000_000_000_000],
  [253_402_300_799_999, 253_402_300_799_999],
  [253_402_300_799_999.5, 253_402_300_799_999],
  [253_402_300_800_000, REFUSED],
  [1_700_000_000.123, 1_700_000_000_123],
  [1_700_000_000.1239, 1_700_000_000_123],
  [1_700_000_000_123.9, 1_700_000_000_123],
  [0.0009, 0],
  [1e-7, 0],
  [0.0015, 1],
  [-1, REFUSED],
  [-0.001, REFUSED],
  [Infinity, REFUSED],
  [-Infinity, REFUSED],
  [NaN, REFUSED],
  ['1763684000', 1_763_684_000_000],
  [' 1763684000123 ', 1_763_684_000_123],
  ['+12', 12_000],
  ['-12', REFUSED],
  ['-0', 0],
  ['12.5', 12_500],
  ['1700000000.123', 1_700_000_000_123],
  ['007', 7_000],
  ['12.', REFUSED],
  ['.5', REFUSED],
  ['1e3', REFUSED],
  ['0x10', REFUSED],
  ['1_000', REFUSED],
  ['1,5', REFUSED],
  ['١٢', REFUSED],
  ['Infinity', REFUSED],
  ['NaN', REFUSED],
  ['soon', REFUSED],
  ['9'.repeat(400), REFUSED],
]

test('a time is read as seconds below 10^12, else as milliseconds, floored', (t) => {
  for (const [sent, expected] of times) {
    const read = readTime('at', sent)
    const got: unknown = isFault(read) ? read.code : read
    t.is(got, expected, `${typeof sent} ${sent}`)
  }
})

test('a time that is absent, null or blank is absent', (t) => {
  for (const sent of [undefined, null, '', '  ']) t.is(readTime('at', sent), undefined)
})

const LAST = CHANNEL.slice(0, 25)
const channels: readonly (readonly [sent: string, read: string])[] = [
  [CHANNEL, CHANNEL],
  [CHANNEL.toLowerCase(), CHANNEL],
  ['0123-4567-89AB-CDEF-GHJK-MNPQ-R0', CHANNEL],
  [' 0123456789\tABCDEFGH\nJKMNPQR0\v\f\r ', CHANNEL],
  ['OI23456789ABCDEFGHJKMNPQRO', CHANNEL],
  ['oL23456789abcdefghjkmnpqro', CHANNEL],
  ['oi-23456789abcdefghjkm npqro', CHANNEL],
  ...'048CGMRW'.split('').map((last) => [LAST + last, LAST + last] as const),
  // The two spare bits of the last character must be zero.
  ...'12356'.split('').map((last) => [LAST + last, 'invalid_channel_id'] as const),
  [LAST, 'invalid_channel_id'],
  [`${CHANNEL}0`, 'invalid_channel_id'],
  [`${LAST}U`, 'invalid_channel_id'],
  [`U${CHANNEL.slice(1)}`, 'invalid_channel_id'],
  [`${CHANNEL.slice(0, 13)}\u00a0${CHANNEL.slice(13)}`, 'invalid_channel_id'],
  [`${CHANNEL.slice(0, 13)}_${CHANNEL.slice(13)}`, 'invalid_channel_id'],
  ['', 'channel_id_required'],
  ['  ', 'channel_id_required'],
]

test('every spelling of a channel id gives the canonical one', (t) => {
  for (const [sent, expected] of channels) {
    const read = readChannelId(sent)
    t.is(isFault(read) ? read.code : String(read), expected, JSON.stringify(sent))
  }
})

const passwords: readonly (readonly [sent: string | undefined, read: string])[] = [
  ['12345678', '12345678'],
  ['  12345678\n', '12345678'],
  ['1234567', 'invalid_password'],
  ['  1234567  ', 'invalid_password'],
  ['éééé', 'éééé'],
  ['ééé1', 'invalid_password'],
  ['🌍🌍', '🌍🌍'],
  [bytesOfText(128), bytesOfText(128)],
  [bytesOfText(129), 'invalid_password'],
  ['x'.repeat(128), 'x'.repeat(128)],
  ['x'.repeat(129), 'invalid_password'],
  ['€'.repeat(42) + 'xx', '€'.repeat(42) + 'xx'],
  ['€'.repeat(43), 'invalid_password'],
  ['1234567\ud800', 'invalid_password'],
  ['1234\u00005678', 'invalid_password'],
  ['', 'password_required'],
  ['   ', 'password_required'],
  [undefined, 'password_required'],
]

test('a password is trimmed and then has 8 to 128 bytes', (t) => {
  for (const [sent, expected] of passwords) {
    const read = readPassword(sent)
    t.is(isFault(read) ? read.code : read, expected, JSON.stringify(sent))
  }
})

test('bytes are counted as UTF-8 counts them', (t) => {
  for (const text of ['', 'a', 'é', '€', '🌍', 'a€🌍é', '\u07ff\u0800\uffff']) {
    t.is(utf8Bytes(text), Buffer.byteLength(text), text)
    t.false(isLonger(text, Buffer.byteLength(text)), text)
    if (text !== '') t.true(isLonger(text, Buffer.byteLength(text) - 1), text)
  }
})

test('text is trimmed, blank text is absent, and text without a faithful form is refused', (t) => {
  t.is(readText('body', '  a b\n'), 'a b')
  for (const sent of [undefined, null, '', ' \t\n']) t.is(readText('body', sent), undefined)
  for (const sent of ['\ud800', 'a\udc00b', '\udc00\ud800', 'a\0b']) {
    t.like(readText('body', sent), { code: 'validation_failed', field: 'body' })
  }
  t.is(readText('body', '\ud83c\udf0d'), '🌍')
})

test('a limit is a whole number within its bounds', (t) => {
  const bounds = { max: 200, fallback: 50 }
  for (const sent of [undefined, null, '', ' ']) t.is(readLimit(sent, bounds), 50)
  for (const sent of [1, 200, '1', ' 200 ', '7.0']) t.is(readLimit(sent, bounds), Number(sent))
  for (const sent of [0, 201, -1, 1.5, NaN, Infinity, '0', '201', '1.5', '1e2', '0x10', 'all']) {
    t.like(readLimit(sent, bounds), { code: 'validation_failed', field: 'limit' }, String(sent))
  }
  t.is(readWhole(-0), 0)
  t.is(readWhole(2 ** 53), undefined)
})
