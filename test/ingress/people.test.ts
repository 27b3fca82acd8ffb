// Preferences of a subscription, labels of devices and receipts, over HTTP.

import test from 'ava'

import { parseDeviceKey } from '#domain/identity'
import { deviceIdOf } from '#src/acceptance/devices/device-identity'
import { CHANNEL, CREDENTIALS, PASSWORD } from '#test/support/making'
import { addChannel, startIngress } from '#test/support/start-ingress'
import type { Answered, Rig } from '#test/support/start-ingress'
import { message } from '#test/support/submissions'

const OTHER = '7ZZZZZZZZZZZZZZZZZZZZZZZZW'
const NOTIFY = { min_severity: 'high', models: ['event'] }

const dataOf = ({ json }: Answered): Readonly<Record<string, unknown>> => {
  const data: unknown = json['data']
  return typeof data === 'object' && data !== null ? { ...data } : {}
}

async function newDevice(rig: Rig, more: object = {}): Promise<string> {
  const answer = await rig.post('/device/register', { platform: 'web', ...more })
  return String(dataOf(answer)['device_key'])
}

test('a device chooses its pushes of each channel as it subscribes and later, and reads what it chose', async (t) => {
  const rig = await startIngress(t)
  await addChannel(rig.channels, OTHER, PASSWORD)
  const device_key = await newDevice(rig)
  const ofOther = { channel_id: OTHER, device_key }
  await rig.post('/channel/subscribe', { ...CREDENTIALS, device_key, notify: NOTIFY })
  await rig.post('/channel/subscribe', { ...ofOther, password: PASSWORD })
  const shown = async (channel_id: string): Promise<unknown> =>
    dataOf(await rig.post('/channel/info', { channel_id, device_key }))['notify']
  t.deepEqual([await shown(CHANNEL), await shown(OTHER)], [NOTIFY, {}])

  const changed = await rig.post('/channel/notify', { ...ofOther, notify: { level: 2 } })
  t.deepEqual(dataOf(changed), { channel_id: OTHER, notify: { level: 2 } })
  await rig.post('/channel/subscribe', { ...CREDENTIALS, device_key })
  t.deepEqual([await shown(CHANNEL), await shown(OTHER)], [NOTIFY, { level: 2 }])
  t.false('notify' in dataOf(await rig.post('/channel/info', CREDENTIALS)))
})

test('preferences are refused by the path of the member, and those of nobody are not found', async (t) => {
  const rig = await startIngress(t)
  const device_key = await newDevice(rig)
  const known = { channel_id: CHANNEL, device_key, notify: NOTIFY }
  const bad = { ...known, notify: { quiet: [{ from: '22:00', to: '7', time_zone: 'UTC' }] } }
  const rows = [
    ['/channel/notify', known, 'channel_not_found'],
    ['/channel/notify', { ...known, device_key: 'a'.repeat(32) }, 'device_key_not_found'],
    ['/channel/notify', { ...known, notify: null }, 'validation_failed'],
    ['/channel/notify', bad, 'validation_failed'],
    ['/channel/subscribe', { ...bad, password: PASSWORD }, 'validation_failed'],
    ['/channel/info', { channel_id: CHANNEL, device_key }, 'channel_not_found'],
  ] as const
  for (const [path, body, code] of rows) {
    t.is((await rig.post(path, body)).json['error_code'], code, JSON.stringify([path, body]))
  }
  t.regex((await rig.post('/channel/notify', bad)).text, /notify\.quiet\[0\]\.to/)
  t.is(rig.subscriptions.members.size, 0)
})

test('a device has a label of up to 64 characters, which a later registration may change', async (t) => {
  const rig = await startIngress(t)
  const device_key = await newDevice(rig, { label: ` ${'ü'.repeat(64)} ` })
  const key = parseDeviceKey(device_key)
  const label = () => key && rig.devices.labels.get(deviceIdOf(key))
  t.is(label(), 'ü'.repeat(64))
  t.is(await newDevice(rig, { device_key, label: 'Hall' }), device_key)
  t.is(await newDevice(rig, { device_key, label: ' ' }), device_key)
  t.is(label(), 'Hall')
  for (const bad of ['x'.repeat(65), 'a\u0000']) {
    const answer = await rig.post('/device/register', { platform: 'web', device_key, label: bad })
    t.is(answer.json['error_code'], 'validation_failed', bad)
  }
  t.is(label(), 'Hall')
})

test('the owner of a channel learns which devices got an entry, by its operation or its entity', async (t) => {
  const rig = await startIngress(t)
  const sent = message({ opId: 'op-1' })
  const { opId, entityId, model, channelId } = sent
  const acceptedAt = rig.time.nowMs()
  await addChannel(rig.channels, channelId, PASSWORD)
  const record = { opId, entityId, acceptedAt, model, channelId, updatedAt: acceptedAt }
  rig.operations.rows.set(opId, { ...record, status: 'sent' })
  const device = deviceIdOf(parseDeviceKey('a'.repeat(32)) ?? t.fail())
  const facts = { deviceId: device, platform: 'web', channelType: 'webpush' } as const
  rig.reads.receipted = {
    entry: { channelId, seq: 3, opId, model, action: 'send', entityId, acceptedAt, payload: '{}' },
    subscribers: [
      { ...facts, label: 'Hall', state: 'acknowledged' },
      { ...facts, state: 'waiting' },
    ],
  }
  const credentials = { channel_id: channelId, password: PASSWORD }
  for (const named of [{ op_id: 'op-1' }, { entity_id: entityId }]) {
    const answer = await rig.post('/delivery/receipts', { ...credentials, ...named })
    t.is(answer.status, 200, answer.text)
    t.like(dataOf(answer), {
      op_id: opId,
      seq: 3,
      model: 'message',
      entity_id: entityId,
      accepted_at: acceptedAt,
      acknowledged: 1,
      waiting: 1,
    })
    t.like(dataOf(answer)['subscribers'], {
      0: { label: 'Hall', platform: 'web', channel_type: 'webpush', state: 'acknowledged' },
      1: { state: 'waiting' },
    })
    t.false(answer.text.includes(device))
  }
  const rights = [
    [{ scopes: ['read'] }, 200],
    [{ scopes: ['send'] }, 403],
    [{ thing_prefix: 'a' }, 403],
  ] as const
  for (const [right, status] of rights) {
    const { key } = dataOf(await rig.post('/channel/key', { ...credentials, ...right }))
    const asked = { channel_id: channelId, password: key, op_id: 'op-1' }
    t.is((await rig.post('/delivery/receipts', asked)).status, status, JSON.stringify(right))
  }
  rig.reads.receipted = undefined
  const rows = [
    [{ op_id: 'op-1' }, 'entity_not_found'],
    [{ entity_id: entityId }, 'entity_not_found'],
    [{ op_id: 'op-2' }, 'send_status_not_found'],
    [{ op_id: 'op-1', entity_id: entityId }, 'validation_failed'],
    [{}, 'validation_failed'],
    [{ op_id: 'op-1', password: 'another password' }, 'channel_not_found'],
  ] as const
  for (const [named, code] of rows) {
    const answer = await rig.post('/delivery/receipts', { ...credentials, ...named })
    t.is(answer.json['error_code'], code, JSON.stringify(named))
  }
  // An operation of another channel is unknown.
  await addChannel(rig.channels, OTHER, PASSWORD)
  const foreign = { channel_id: OTHER, password: PASSWORD, op_id: 'op-1' }
  const answer = await rig.post('/delivery/receipts', foreign)
  t.is(answer.json['error_code'], 'send_status_not_found')
})
