// Goal: the stage serves every way in alike: it knows no HTTP, needs no password where a grant stands
// for it, and gives 503 after every other refusal.

import test from 'ava'

import { fault, isFault } from '#domain/fault'
import type { Acceptance } from '#src/acceptance/acceptance'
import { withGrant } from '#src/acceptance/caller'
import type { Caller } from '#src/acceptance/caller'
import { acceptanceRig, addChannel } from '#test/support/acceptance-rig'
import { CHANNEL, CREDENTIALS, NOW_MS } from '#test/support/making'

const CALLER: Caller = { receivedAtMs: NOW_MS }
const OTHER = '7ZZZZZZZZZZZZZZZZZZZZZZZZW'
const MESSAGE = { model: 'message', action: 'send' } as const
const THING = { model: 'thing', action: 'update' } as const

const WRONG = { ...CREDENTIALS, password: 'wrong password' }

const codeOf = (outcome: unknown): unknown => (isFault(outcome) ? outcome.code : outcome)

test('a caller with a grant submits without a password, to the channels of its grant only', async (t) => {
  const { acceptance, channels, channelId, sink } = await acceptanceRig()
  const other = await addChannel(channels, OTHER, 'another password')
  const caller = withGrant(CALLER, { channels: new Set([channelId]) })
  const { submissions } = acceptance
  const sent = { channel_id: CHANNEL, title: 'x', op_id: 'mine' }
  t.like(await submissions.submit(MESSAGE, sent, caller), { model: 'message', opId: 'mine' })
  t.is(
    codeOf(await submissions.submit(MESSAGE, { ...sent, title: 'y' }, caller)),
    'op_id_payload_conflict',
  )
  const reading = { channel_id: CHANNEL, thing_id: 't', observed_at: 1 }
  t.like(await submissions.submit(THING, reading, caller), { model: 'thing', entityId: 't' })
  const elsewhere = { ...reading, channel_id: other }
  t.is(codeOf(await submissions.submit(THING, elsewhere, caller)), 'channel_not_found')
  t.is(
    codeOf(await submissions.submit(THING, { ...elsewhere, password: 'another password' }, caller)),
    'channel_not_found',
  )
  t.is(sink.accepted.length, 2)
  t.false(JSON.stringify(sink.accepted).includes('password'))
})

test('a grant of a channel that is gone opens nothing', async (t) => {
  const { acceptance, channels, channelId } = await acceptanceRig()
  const caller = withGrant(CALLER, { channels: new Set([channelId]) })
  await channels.delete(channelId)
  const outcome = await acceptance.submissions.submit(
    MESSAGE,
    { channel_id: CHANNEL, title: 'x' },
    caller,
  )
  t.is(codeOf(outcome), 'channel_not_found')
})

test('a caller with a grant reads the contents of its channels', async (t) => {
  const { acceptance, channelId } = await acceptanceRig()
  const caller = withGrant(CALLER, { channels: new Set([channelId]) })
  t.like(await acceptance.channels.info({ channel_id: CHANNEL }, caller), { channelId })
  t.like(await acceptance.state.history({ channel_id: CHANNEL }, caller), { items: [] })
  t.is(codeOf(await acceptance.state.things({ channel_id: OTHER }, caller)), 'channel_not_found')
})

test('channels/2: a grant neither renames nor deletes a channel, nor changes its password', async (t) => {
  const { acceptance, channelId, channels } = await acceptanceRig()
  const caller = withGrant(CALLER, { channels: new Set([channelId]) })
  const fields = { channel_id: CHANNEL, channel_name: 'mine', new_password: 'a new password' }
  for (const outcome of [
    await acceptance.channels.rename(fields, caller),
    await acceptance.channels.changePassword(fields, caller),
    await acceptance.channels.delete(fields, caller),
  ]) {
    t.is(codeOf(outcome), 'password_required')
  }
  t.like(channels.rows.get(channelId), { channelName: 'a channel' })
})

test('subscribers/1: a grant lists and removes no devices', async (t) => {
  const { acceptance, channelId } = await acceptanceRig()
  const caller = withGrant(CALLER, { channels: new Set([channelId]) })
  const { subscribers } = acceptance
  const remove = { subscriber_id: 'a'.repeat(32) }
  for (const [fields, code] of [
    [{ channel_id: CHANNEL }, 'password_required'],
    [WRONG, 'channel_not_found'],
  ] as const) {
    t.is(codeOf(await subscribers.list(fields, caller)), code)
    t.is(codeOf(await subscribers.remove({ ...fields, ...remove }, caller)), code)
  }
})

test('channel-keys/3: a grant makes, lists and revokes no keys, whatever stands beside it', async (t) => {
  const { acceptance, channelId, channelKeys } = await acceptanceRig()
  const { keyId } = (await acceptance.keys.create(CREDENTIALS, CALLER)) as { keyId: string }
  const caller = withGrant(CALLER, { channels: new Set([channelId]) })
  for (const [fields, code] of [
    [{ channel_id: CHANNEL }, 'password_required'],
    [WRONG, 'channel_not_found'],
  ] as const) {
    t.is(codeOf(await acceptance.keys.create(fields, caller)), code)
    t.is(codeOf(await acceptance.keys.list(fields, caller)), code)
    t.is(codeOf(await acceptance.keys.revoke({ ...fields, key_id: keyId }, caller)), code)
  }
  t.like(await channelKeys.list(channelId, 0, 9), { items: [{ keyId }] })
})

type Call = (acceptance: Acceptance, fields: object, caller: Caller) => unknown
/** A call that works: its own refusal, and fields for which nothing is wrong. */
type Row = readonly [name: string, call: Call, bad: object, code: string, good: object]

/** A call that needs the password of the channel. */
const byPassword = (name: string, call: Call, more: object = {}): Row => [
  name,
  call,
  { ...WRONG, ...more },
  'channel_not_found',
  { ...CREDENTIALS, ...more },
]

const calls: readonly Row[] = [
  byPassword('submissions.submit', (a, f, c) => a.submissions.submit(MESSAGE, f, c), {
    title: 'x',
  }),
  byPassword('state.thing', (a, f, c) => a.state.thing(f, c), { thing_id: 't' }),
  byPassword('state.event', (a, f, c) => a.state.event(f, c), { event_id: 't' }),
  byPassword('state.things', (a, f, c) => a.state.things(f, c)),
  byPassword('state.events', (a, f, c) => a.state.events(f, c)),
  byPassword('state.history', (a, f, c) => a.state.history(f, c)),
  byPassword('channels.info', (a, f, c) => a.channels.info(f, c)),
  byPassword('channels.delete', (a, f, c) => a.channels.delete(f, c)),
  byPassword('channels.rename', (a, f, c) => a.channels.rename(f, c), { channel_name: 'n' }),
  byPassword('channels.changePassword', (a, f, c) => a.channels.changePassword(f, c), {
    new_password: 'a password',
  }),
  [
    'channels.create',
    (a, f, c) => a.channels.create(f, c),
    { channel_name: '' },
    'password_required',
    { channel_name: 'n', password: 'a password' },
  ],
  [
    'channels.exists',
    (a, f, c) => a.channels.exists(f, c),
    {},
    'channel_id_required',
    { channel_id: CHANNEL },
  ],
  [
    'registration.register',
    (a, f, c) => a.devices.register(f, c),
    { platform: 'x' },
    'invalid_platform',
    { platform: 'web' },
  ],
  [
    'deviceRoutes.retireToken',
    (a, f, c) => a.devices.retireToken(f, c),
    { platform: 'x', provider_token: 'y' },
    'invalid_platform',
    { platform: 'android', provider_token: 'z'.repeat(40) },
  ],
]

// The same for calls by a device, whose key each test makes.
const byDevice: readonly Row[] = [
  [
    'deviceRoutes.set',
    (a, f, c) => a.devices.setRoute(f, c),
    { channel_type: 'fcm', provider_token: 'z'.repeat(40) },
    'fcm_channel_requires_android_platform',
    { channel_type: 'private' },
  ],
  [
    'deviceRoutes.delete',
    (a, f, c) => a.devices.deleteRoute(f, c),
    { channel_type: 'fcm' },
    'channel_type_mismatch',
    { channel_type: 'private' },
  ],
  ['deliveries.pull', (a, f, c) => a.devices.pull(f, c), { limit: 0 }, 'validation_failed', {}],
  [
    'deliveries.acknowledge',
    (a, f, c) => a.devices.acknowledge(f, c),
    { delivery_ids: ['x'] },
    'delivery_id_invalid',
    { delivery_ids: [`${CHANNEL}-1`] },
  ],
  byPassword('subscriptions.subscribe', (a, f, c) => a.subscriptions.subscribe(f, c)),
  [
    'subscriptions.subscribe by name',
    (a, f, c) => a.subscriptions.subscribe(f, c),
    { channel_name: 'n', password: 'x' },
    'invalid_password',
    { channel_name: 'n', password: 'a password' },
  ],
  [
    'subscriptions.unsubscribe',
    (a, f, c) => a.subscriptions.unsubscribe(f, c),
    { channel_id: 'x' },
    'invalid_channel_id',
    { channel_id: CHANNEL },
  ],
  [
    'subscriptions.synchronise',
    (a, f, c) => a.subscriptions.synchronise(f, c),
    { channels: 'x' },
    'invalid_json_data',
    { channels: [CREDENTIALS] },
  ],
]

for (const [name, call, bad, code, good] of [...calls, ...byDevice]) {
  test(`submissions/1, ${name}: a way in that is draining or full refuses last, and nothing has changed`, async (t) => {
    const rig = await acceptanceRig()
    const { acceptance, channels, devices, subscriptions, sink, bus } = rig
    const device = await acceptance.devices.register({ platform: 'web' }, CALLER)
    if (isFault(device)) return t.fail()
    const key = byDevice.some(([of]) => of === name) ? { device_key: device.deviceKey } : {}
    const state = () =>
      JSON.stringify([...channels.rows, ...devices.rows, sink.accepted, bus.notices])
    const before = state()
    const late = { ...CALLER, refusal: fault('server_busy') }
    t.is(codeOf(await call(acceptance, { ...key, ...bad }, late)), code)
    t.is(codeOf(await call(acceptance, { ...key, ...good }, late)), 'server_busy')
    t.is(state(), before)
    t.deepEqual(await subscriptions.positions(devices.rows.keys().next().value ?? t.fail()), [])
    t.not(codeOf(await call(acceptance, { ...key, ...good }, CALLER)), 'server_busy')
  })
}

for (const isAnswered of [true, false]) {
  const outcome = isAnswered ? 'is answered' : 'has an unknown outcome'
  test(`channel-keys/2: a revocation that ${outcome} is followed by a notice, and the key is read again`, async (t) => {
    const { acceptance, channelKeys, bus } = await acceptanceRig()
    const made = await acceptance.keys.create({ ...CREDENTIALS }, CALLER)
    if (isFault(made)) return t.fail()
    const send = () =>
      acceptance.submissions.submit(MESSAGE, { title: 'x', password: made.key }, CALLER)
    t.false(isFault(await send()))
    const revoke = channelKeys.revoke.bind(channelKeys)
    channelKeys.revoke = async (...which) => {
      await revoke(...which)
      if (!isAnswered) throw new Error('the answer is lost')
      return true
    }
    const revoked = acceptance.keys.revoke({ ...CREDENTIALS, key_id: made.keyId }, CALLER)
    await (isAnswered ? revoked : t.throwsAsync(revoked))
    t.like(bus.notices.at(-1), { kind: 'credentials-changed', keyId: made.keyId })
    t.true(isFault(await send()))
  })
}

test('a client that was answered finds its operation, also while the way in is draining', async (t) => {
  const { acceptance, sink } = await acceptanceRig()
  const accepted = await acceptance.submissions.submit(
    MESSAGE,
    { ...CREDENTIALS, title: 'x' },
    CALLER,
  )
  const [submission] = sink.accepted
  if (isFault(accepted) || submission === undefined) return t.fail()
  const times = { acceptedAt: NOW_MS, updatedAt: NOW_MS }
  sink.operations.set(accepted.opId, {
    ...accepted,
    channelId: submission.channelId,
    status: 'accepted',
    ...times,
  })
  const late = { ...CALLER, refusal: fault('server_busy') }
  t.like(await acceptance.statuses.find(accepted.opId, late), { status: 'accepted' })
})

test('a way in that refuses does not say that an operation is not there', async (t) => {
  const { acceptance } = await acceptanceRig()
  const late = { ...CALLER, refusal: fault('server_busy') }
  t.is(codeOf(await acceptance.statuses.find('0'.repeat(32), late)), 'server_busy')
  t.is(codeOf(await acceptance.statuses.find('0'.repeat(32), CALLER)), 'send_status_not_found')
})
