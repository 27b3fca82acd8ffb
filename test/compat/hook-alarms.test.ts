// Goal: one alarm is one Event, from the payload that opens it to the one that closes it, however
// often and in whatever order its tool sends them.

import test from 'ava'

import { fault } from '#domain/fault'
import { PATH_KEY, startStyles } from '#test/support/compatibility-rig'
import * as from from '#test/support/hook-payloads'
import type { HookPayload } from '#test/support/hook-payloads'
import type { Answered, Rig } from '#test/support/start-ingress'

const post = (rig: Rig, { kind, body, headers }: HookPayload): Promise<Answered> =>
  rig.post(`/hook/${kind}/${PATH_KEY}`, body, headers)

/** What the log has got: the action with its time and fields. */
const taken = ({ sink }: Rig) =>
  sink.accepted.map((one) =>
    one.model === 'event' ? { action: one.action, at: one.patch.at, ...one.patch.fields } : one,
  )

const idsOf = ({ sink }: Rig): readonly unknown[] =>
  sink.accepted.map((one) => ('entityId' in one ? one.entityId : undefined))

for (const [tool, [firing, resolved]] of Object.entries(from.ALARMS)) {
  test(`hooks/1: ${tool} has one Event from the first payload to the end, and another one later`, async (t) => {
    const rig = await startStyles(t)
    for (const payload of [firing, firing, resolved, resolved]) {
      t.is((await post(rig, payload)).status, 200)
    }
    t.deepEqual(
      taken(rig).map(({ action }) => action),
      ['update', 'update', 'close', 'close'],
    )
    t.is(new Set(idsOf(rig)).size, 1)
    t.regex(String(idsOf(rig)[0]), new RegExp(`^${firing.kind}-[0-9a-f]{32}$`))
    const [first, again] = taken(rig)
    // A patch of the same values and time is no entry; only the first one says when it began.
    t.like(first, again ?? {})
  })
}

test('hooks/1: an alarm that comes back has another Event, and an old payload does not bring it back', async (t) => {
  const rig = await startStyles(t)
  const [down, up] = from.ALARMS['uptime-kuma']
  const again = from.uptimeKuma({ time: '2025-11-20 08:00:00.000' })
  for (const payload of [down, up, down, again, again]) await post(rig, payload)
  const [first, closed, old, next, nextAgain] = idsOf(rig)
  t.deepEqual([closed, old, nextAgain], [first, first, next])
  t.not(next, first)
  const begun = taken(rig).map((one) => 'started_at' in one)
  t.deepEqual(begun, [true, false, false, true, false])
})

test('the end of an alarm that is not on becomes nothing', async (t) => {
  const rig = await startStyles(t)
  const { status, json } = await post(rig, from.uptimeKuma({ status: 1 }))
  t.like({ status, json }, { status: 200, json: { data: { accepted: 0 } } })
  t.deepEqual(rig.sink.accepted, [])
})

test('hooks/1: the alarm of a payload that was refused goes on with the same Event', async (t) => {
  const rig = await startStyles(t)
  rig.sink.answer = () => fault('server_busy')
  const refused = await post(rig, from.uptimeKuma({}))
  t.is(refused.status, 503)
  const [begun] = [...rig.hooks.episodes.values()]
  rig.sink.answer = () => ({ kind: 'accepted' })
  t.is((await post(rig, from.uptimeKuma({}))).status, 200)
  t.deepEqual(idsOf(rig), [begun?.eventId])
})

test('hooks/1: two payloads that open one alarm at once open one Event', async (t) => {
  const rig = await startStyles(t)
  rig.hooks.beforeBegin = ({ channelId, source }) => {
    rig.hooks.episodes.set(channelId + source, { eventId: 'of-the-other', endedAt: 0 })
  }
  t.is((await post(rig, from.uptimeKuma({}))).status, 200)
  t.deepEqual(idsOf(rig), ['of-the-other'])
})

test('one alarm more than a channel may have open is refused by name', async (t) => {
  const rig = await startStyles(t)
  rig.hooks.isFull = true
  const refused = await post(rig, from.uptimeKuma({}))
  t.like(refused, { status: 400, json: { error_code: 'validation_failed' } })
  t.regex(String(refused.json['error']), /source/)
  t.deepEqual(rig.sink.accepted, [])
})
