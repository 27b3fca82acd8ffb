// Goal: what an acknowledgement, and the reminders of an Event, may say.
// Method: one row a value at a limit and one beyond, with what is kept of it or the refusal.

import test from 'ava'

import { isFault } from '#domain/fault'
import { readAcknowledge, readEvent } from '#src/schemas/event'
import { CREDENTIALS, DEVICE_KEY, making, NOW_MS, PASSWORD } from '#test/support/making'

const M = 60_000
const BODY = { ...CREDENTIALS, event_id: 'e', event_time: 1_763_684_000 }

const rows: readonly (readonly [member: string, sent: unknown, kept: unknown])[] = [
  ['by', 'anna', { by: 'anna' }],
  ['by', ' ', {}],
  ['by', null, {}],
  ['by', '🚒'.repeat(64), { by: '🚒'.repeat(64) }],
  ['by', '🚒'.repeat(65), 'validation_failed by must be 1 to 64 characters'],
  ['by', 7, 'invalid_json_data by must be of JSON type string or null'],
  ['note', 'ä'.repeat(256), { note: 'ä'.repeat(256) }],
  ['note', 'ä'.repeat(256) + 'x', 'validation_failed note must be at most 512 bytes'],
  ['snooze', '1m', { snoozeMs: M }],
  ['snooze', '60s', { snoozeMs: M }],
  ['snooze', '7d', { snoozeMs: 7 * 24 * 60 * M }],
  ['snooze', '59s', 'validation_failed snooze must be a duration from 1m to 7d'],
  ['snooze', '8d', 'validation_failed snooze must be a duration from 1m to 7d'],
  ['snooze', 'long', 'validation_failed snooze must be a duration from 1m to 7d'],
  ['op_id', 'mine', 'op_id_not_allowed undefined'],
]

for (const [member, sent, kept] of rows) {
  test(`${member} ${JSON.stringify(sent).slice(0, 20)} of an acknowledgement ends as ${JSON.stringify(kept).slice(0, 40)}`, (t) => {
    const read = readAcknowledge({ ...BODY, [member]: sent }, making())
    if (isFault(read)) {
      t.is<unknown, unknown>(`${read.code} ${read.detail}`, kept)
      return
    }
    const { patch, acknowledging, action, acceptedAt } = read.submission
    t.deepEqual(acknowledging, kept)
    t.like(
      { action, acceptedAt, at: patch.at },
      {
        action: 'acknowledge',
        acceptedAt: NOW_MS,
        at: 1_763_684_000_000,
      },
    )
    t.is(read.password, PASSWORD)
  })
}

test('a device acknowledges by its key in the place of the password, not beside it', (t) => {
  const { password: _, ...body } = BODY
  const read = readAcknowledge({ ...body, device_key: DEVICE_KEY }, making())
  t.like(read, { password: '', deviceKey: DEVICE_KEY })
  const both = readAcknowledge({ ...BODY, device_key: DEVICE_KEY }, making())
  t.like(both, { code: 'validation_failed', field: 'device_key' })
  t.like(readAcknowledge(body, making()), { code: 'password_required' })
})

const step = (after: string, level: unknown, more: object = {}) => ({ after, level, ...more })
const five = ['1m', '2m', '3m', '4m', '30d'].map((after, at) => step(after, at + 5))

const fields: readonly (readonly [name: string, sent: unknown, kept: unknown])[] = [
  ['remind_every', '1m', '1m'],
  ['remind_every', ' 24h ', '24h'],
  ['remind_every', '1d', '1d'],
  ['remind_every', null, null],
  ['remind_every', '', null],
  ['remind_every', '59s', 'validation_failed'],
  ['remind_every', '1441m', 'validation_failed'],
  ['remind_every', 60, 'invalid_json_data'],
  ['escalate', null, null],
  ['escalate', [], []],
  ['escalate', five, five],
  ['escalate', [step('1s', 1, { severity: 'low' })], [step('1s', 1, { severity: 'low' })]],
  ['escalate', [step('1m', 1), ...five], 'validation_failed'],
  ['escalate', [step('1m', 0)], 'validation_failed'],
  ['escalate', [step('1m', 10)], 'validation_failed'],
  ['escalate', [step('1m', 1.5)], 'validation_failed'],
  ['escalate', [step('31d', 1)], 'validation_failed'],
  ['escalate', [step('1m', 1, { severity: 'loud' })], 'validation_failed'],
  ['escalate', [step('1m', 1, { to: 'anna' })], 'validation_failed'],
  ['escalate', [step('60s', 1), step('1m', 2)], 'validation_failed'],
  ['escalate', [step('1m', 2), step('2m', 2)], 'validation_failed'],
  ['escalate', ['1m'], 'invalid_json_data'],
]

for (const [name, sent, kept] of fields) {
  test(`${name} ${JSON.stringify(sent).slice(0, 60)} ends as ${JSON.stringify(kept).slice(0, 30)}`, (t) => {
    const read = readEvent('update', { ...BODY, [name]: sent }, making())
    if (isFault(read)) {
      t.deepEqual<unknown, unknown>([read.code, read.field], [kept, name])
      return
    }
    t.deepEqual(read.submission.patch.fields[name], kept as never)
  })
}
