// Goal: who may acknowledge an Event, and under which name.

import test from 'ava'

import { startStyles } from '#test/support/compatibility-rig'
import { CHANNEL, CREDENTIALS } from '#test/support/making'
import type { Answered } from '#test/support/start-ingress'

const BODY = { channel_id: CHANNEL, event_id: 'e', event_time: 1 }

const dataOf = ({ json }: Answered) => json['data'] as Readonly<Record<string, string>>

test('a subscribed device acknowledges, and one that is not learns nothing', async (t) => {
  const rig = await startStyles(t)
  const device_key = dataOf(await rig.post('/device/register', { platform: 'web' }))['device_key']
  const refused = await rig.post('/event/acknowledge', { ...BODY, device_key })
  t.is(refused.json['error_code'], 'channel_not_found')
  t.is(rig.sink.accepted.length, 0)
  await rig.post('/channel/subscribe', { ...CREDENTIALS, device_key })
  const { json, text } = await rig.post('/event/acknowledge', { ...BODY, device_key, note: 'mine' })
  t.is((json['data'] as { event_id?: string } | undefined)?.event_id, 'e', text)
  t.like(rig.sink.accepted[0], { action: 'acknowledge', acknowledging: { note: 'mine' } })
  t.false(JSON.stringify(rig.sink.accepted).includes(String(device_key)))
})

test('the label of a device is the name of who acknowledges without one', async (t) => {
  const rig = await startStyles(t)
  const said = { platform: 'web', label: "Anna's phone" }
  const { device_key } = dataOf(await rig.post('/device/register', said))
  await rig.post('/channel/subscribe', { ...CREDENTIALS, device_key })
  for (const by of [undefined, 'ben'])
    await rig.post('/event/acknowledge', { ...BODY, device_key, by })
  t.like(rig.sink.accepted, [
    { acknowledging: { by: "Anna's phone" } },
    { acknowledging: { by: 'ben' } },
  ])
})

test('the label of a key is the name of who acknowledges without one; its prefix is told', async (t) => {
  const rig = await startStyles(t)
  const rights = { label: 'duty phone', thing_prefix: 'freezer-' }
  const { key } = dataOf(await rig.post('/channel/key', { ...CREDENTIALS, ...rights }))
  for (const by of [undefined, 'anna']) {
    await rig.post('/event/acknowledge', { ...BODY, password: key, by })
  }
  t.like(rig.sink.accepted, [
    { acknowledging: { by: 'duty phone' }, within: 'freezer-' },
    { acknowledging: { by: 'anna' }, within: 'freezer-' },
  ])
})

test('the password acknowledges for nobody in particular', async (t) => {
  const rig = await startStyles(t)
  await rig.post('/event/acknowledge', { ...BODY, ...CREDENTIALS })
  t.deepEqual(
    rig.sink.accepted.map((one) => 'acknowledging' in one && one.acknowledging),
    [{}],
  )
})

test('a key without the scope send does not acknowledge', async (t) => {
  const rig = await startStyles(t)
  const { key } = dataOf(await rig.post('/channel/key', { ...CREDENTIALS, scopes: ['read'] }))
  const { status, json } = await rig.post('/event/acknowledge', { ...BODY, password: key })
  t.is(status, 403)
  t.is(json['error_code'], 'key_scope')
  t.is(rig.sink.accepted.length, 0)
})
