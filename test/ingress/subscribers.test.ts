// Goal: the owner of a channel sees the devices that follow it, and may end the subscription of one.

import test from 'ava'

import { CHANNEL, CREDENTIALS, PASSWORD } from '#test/support/making'
import { addChannel, startIngress } from '#test/support/start-ingress'
import type { Answered, Rig } from '#test/support/start-ingress'

const OTHER = '7ZZZZZZZZZZZZZZZZZZZZZZZZW'

const dataOf = ({ json }: Answered): Readonly<Record<string, unknown>> => {
  const data: unknown = json['data']
  return typeof data === 'object' && data !== null ? { ...data } : {}
}

async function newDevice(rig: Rig): Promise<string> {
  return String(dataOf(await rig.post('/device/register', { platform: 'web' }))['device_key'])
}

test('subscribers/2: the owner of a channel lists its devices by names that differ in each channel', async (t) => {
  const rig = await startIngress(t)
  await addChannel(rig.channels, OTHER, PASSWORD)
  const device_key = await newDevice(rig)
  const names: unknown[] = []
  for (const channel_id of [CHANNEL, OTHER]) {
    const credentials = { channel_id, password: PASSWORD }
    const joined = dataOf(await rig.post('/channel/subscribe', { ...credentials, device_key }))
    const { subscriber_id } = joined
    const listed = await rig.post('/channel/subscriber/list', credentials)
    t.deepEqual(dataOf(listed), {
      channel_id,
      subscribers: [
        {
          subscriber_id,
          platform: 'web',
          channel_type: 'private',
          subscribed_at: 1,
          last_seen_on: '1970-01-01',
        },
      ],
    })
    t.false(listed.text.includes(device_key))
    names.push(subscriber_id)
  }
  t.not(names[0], names[1])
})

test('the owner of a channel removes a device, whose session learns it', async (t) => {
  const rig = await startIngress(t)
  const device_key = await newDevice(rig)
  const joined = dataOf(await rig.post('/channel/subscribe', { ...CREDENTIALS, device_key }))
  const { subscriber_id } = joined
  const body = { ...CREDENTIALS, subscriber_id: ` ${String(subscriber_id)} ` }
  for (const removed of [true, false]) {
    const answer = dataOf(await rig.post('/channel/subscriber/remove', body))
    t.deepEqual(answer, { channel_id: CHANNEL, removed })
  }
  t.like(rig.bus.notices, [{ kind: 'subscribed' }, { kind: 'unsubscribed' }])
  t.is(rig.bus.notices.length, 2)
  for (const bad of ['', 'x'.repeat(32), 'a'.repeat(33), undefined]) {
    const sent = { ...CREDENTIALS, subscriber_id: bad }
    t.is((await rig.post('/channel/subscriber/remove', sent)).status, 400, String(bad))
  }
})
