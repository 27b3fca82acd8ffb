// Goal: whoever may read a channel sees why its submissions were refused within the last hour, and
// nobody makes the process keep more than a bound, or anything that was sent.

import test from 'ava'

import { fault, isFault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import { KeptRefusals } from '#src/acceptance/channels/kept-refusals'
import { acceptanceRig } from '#test/support/acceptance-rig'
import { FakeMeter } from '#test/support/fake-telemetry'
import { CHANNEL, NOW_MS, PASSWORD } from '#test/support/making'

const CALLER = { receivedAtMs: NOW_MS }
const PROOF = { channel_id: CHANNEL, password: PASSWORD }
const UPDATE = { model: 'thing', action: 'update' } as const

const SENT: readonly (readonly [what: string, fields: object, code: string])[] = [
  [
    'a wrong password',
    { ...PROOF, password: 'wrong-password', thing_id: 'a', observed_at: NOW_MS },
    'channel_not_found',
  ],
  ['no time', { ...PROOF, thing_id: 'a' }, 'observed_at_required'],
  [
    'an id of another form',
    { ...PROOF, thing_id: 'a b', observed_at: NOW_MS },
    'validation_failed',
  ],
]

for (const [what, fields, code] of SENT) {
  test(`an update with ${what} is among the refusals of its channel, with what was wrong`, async (t) => {
    const { acceptance } = await acceptanceRig()
    for (let sent = 0; sent < 2; sent += 1) {
      const outcome = await acceptance.submissions.submit(UPDATE, fields, CALLER)
      t.is(isFault(outcome) ? outcome.code : 'accepted', code)
    }
    const listed = await acceptance.refusals.list(PROOF, CALLER)
    t.like(listed, { items: [{ ...UPDATE, code, count: 2, firstAt: NOW_MS, lastAt: NOW_MS }] })
    t.notRegex(JSON.stringify(listed), /wrong-password/)
  })
}

test('what is accepted, and what names no channel, is not kept', async (t) => {
  const { acceptance } = await acceptanceRig()
  const update = { ...PROOF, thing_id: 'a', observed_at: NOW_MS }
  t.false(isFault(await acceptance.submissions.submit(UPDATE, update, CALLER)))
  await acceptance.submissions.submit(UPDATE, { ...update, channel_id: 'nothing' }, CALLER)
  t.deepEqual(await acceptance.refusals.list(PROOF, CALLER), { items: [] })
})

test('a wrong password reads no refusals', async (t) => {
  const { acceptance } = await acceptanceRig()
  const outcome = await acceptance.refusals.list({ ...PROOF, password: 'another-one' }, CALLER)
  t.true(isFault(outcome) && outcome.code === 'channel_not_found')
})

const channelOf = (index: number): ChannelId => String(index).padStart(26, '0') as ChannelId

/** Refusals of `channels` channels, `kinds` kinds of each, a millisecond apart. */
function kept(channels: number, kinds: number) {
  let at = NOW_MS
  const meter = new FakeMeter()
  const refusals = new KeptRefusals({ nowMs: () => at, meter })
  for (let channel = 0; channel < channels; channel += 1) {
    for (let kind = 0; kind < kinds; kind += 1) {
      at += 1
      const refusal = fault('validation_failed', { field: `${kind} ${'x'.repeat(300)}` })
      refusals.note(channelOf(channel), UPDATE, refusal)
    }
  }
  return { refusals, meter, later: (ms: number) => (at += ms) }
}

test('kept-refusals/1: of a channel 32 kinds are kept, of the process 1,000 channels', (t) => {
  t.is(kept(1, 32).refusals.of(channelOf(0)).length, 32)
  const { refusals } = kept(1, 33)
  const details = refusals.of(channelOf(0)).map(({ detail = '' }) => detail)
  t.is(details.length, 32)
  t.true(details[0]?.startsWith('32 '))
  t.false(details.some((detail) => detail.startsWith('0 ')))
  const many = kept(1_001, 1)
  t.is(many.meter.gauges.get('channels_with_refusals')?.(), 1_000)
  t.deepEqual(many.refusals.of(channelOf(0)), [])
  t.is(many.refusals.of(channelOf(1)).length, 1)
})

test('kept-refusals/2: a detail is kept to 200 characters', (t) => {
  t.is(kept(1, 1).refusals.of(channelOf(0))[0]?.detail?.length, 200)
})

test('a refusal is forgotten after an hour', (t) => {
  const { refusals, meter, later } = kept(1, 1)
  later(3_600_000)
  t.is(refusals.of(channelOf(0)).length, 1)
  later(1)
  t.deepEqual(refusals.of(channelOf(0)), [])
  t.is(meter.gauges.get('channels_with_refusals')?.(), 0)
})

test('refusals/1: a key of some Things does not read the refusals of the others', async (t) => {
  const { acceptance } = await acceptanceRig()
  const made = await acceptance.keys.create(
    { ...PROOF, label: 'one', scopes: ['read'], thing_prefix: 'a-' },
    CALLER,
  )
  if (isFault(made)) return t.fail(made.code)
  const outcome = await acceptance.refusals.list({ ...PROOF, password: made.key }, CALLER)
  return t.true(isFault(outcome) && outcome.code === 'key_scope')
})
