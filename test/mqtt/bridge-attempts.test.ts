// Goal: a publish that ends the process ends it a bounded number of times, and one that does not is
// never passed over.
// Method: bridges one after the other over the same kept session; a process ends where acceptance
// never answers.

import test from 'ava'

import { isFault } from '#domain/fault'
import { Attempts, ATTEMPTS_MAX } from '#src/mqtt/bridge/attempts'
import type { BrokerPublish } from '#src/mqtt/bridge/broker'
import { readMappings } from '#src/schemas/mappings/mapping'
import { CHANNEL_ID, SENSOR, bridgeRig, total } from '#test/support/bridge-rig'
import type { Given, Refusal } from '#test/support/bridge-rig'
import { FakeMqttSessions } from '#test/support/fake-mqtt-sessions'
import { largeBirth } from '#test/support/sparkplug'
import { turn } from '#test/support/until'

const AGAIN: BrokerPublish = { ...SENSOR, isRepeat: true }
const of = (index: number): BrokerPublish => ({ ...AGAIN, topic: `tele/plug-${index}/SENSOR` })

/** A process that takes a publish of the broker and ends in the midst of it. */
async function endIn(sessions: FakeMqttSessions, publish: BrokerPublish): Promise<void> {
  const { listener, submitted } = bridgeRig(['never'], { sessions })
  const isOver = listener.take(publish).then(() => 'taken')
  while (submitted.length === 0) {
    const outcome = await Promise.race([isOver, turn()])
    if (outcome === 'taken') throw new Error('the publish was passed over')
  }
}

async function taken(publish: BrokerPublish, given: Given, refusals: readonly Refusal[] = []) {
  const { listener, meter, logger, submitted } = bridgeRig(refusals, given)
  await listener.take(publish)
  const errors = logger.lines.filter(({ level }) => level === 'error')
  return { broken: total(meter, 'broken'), submitted: submitted.length, errors: errors.length }
}
const PASSED_OVER = { broken: 1, submitted: 0, errors: 1 }
const TAKEN = { broken: 0, submitted: 1, errors: 0 }

for (const publish of [AGAIN, { ...SENSOR, isKeptCopy: true }]) {
  const what = publish.isRepeat ? 'that comes again' : 'that the broker kept'
  test(`bridge/3, bridge-attempts/2: a publish ${what} ends ${ATTEMPTS_MAX} processes, and no further one`, async (t) => {
    const sessions = new FakeMqttSessions()
    for (let ends = 0; ends < ATTEMPTS_MAX; ends += 1) await endIn(sessions, publish)
    t.deepEqual(await taken(publish, { sessions }), PASSED_OVER)
    t.deepEqual(await taken(publish, { sessions }), PASSED_OVER)
    t.deepEqual(await taken({ ...publish, payload: Buffer.from('{"A":2}') }, { sessions }), TAKEN)
  })
}

test('bridge-attempts/1: one that is taken at last is taken whenever it comes again', async (t) => {
  const sessions = new FakeMqttSessions()
  for (let rounds = 0; rounds < 2; rounds += 1) {
    for (let ends = 1; ends < ATTEMPTS_MAX; ends += 1) await endIn(sessions, AGAIN)
    t.deepEqual(await taken(AGAIN, { sessions }), TAKEN)
  }
})

test('bridge-attempts/1: one that waits for the gateway to have room is no attempt', async (t) => {
  const sessions = new FakeMqttSessions()
  for (let stops = 0; stops <= ATTEMPTS_MAX; stops += 1) {
    const { bridge, listener, onWait } = bridgeRig(['server_busy'], { sessions })
    let stopping = Promise.resolve()
    onWait(() => void (stopping = bridge.stop()))
    await t.throwsAsync(listener.take(AGAIN), { message: 'the bridge is stopping' })
    await stopping
  }
  t.deepEqual(await taken(AGAIN, { sessions }), TAKEN)
})

test('what comes for the first time costs no write', async (t) => {
  const sessions = new FakeMqttSessions()
  t.deepEqual(await taken(SENSOR, { sessions }), TAKEN)
  t.is(sessions.rows.size, 0)
})

test('bridge/3: a store that is away delays what comes again, and counts no attempt', async (t) => {
  const sessions = new FakeMqttSessions()
  sessions.isAway = true
  const { listener, onWait, waits, submitted } = bridgeRig([], { sessions })
  onWait(() => void (sessions.isAway = waits.length < 2 * ATTEMPTS_MAX))
  await listener.take(AGAIN)
  t.is(waits.length, 2 * ATTEMPTS_MAX)
  t.is(submitted.length, 1)
})

test('bridge-attempts/2: 32 publishes are remembered, the one before them is forgotten', async (t) => {
  const mqttSessions = new FakeMqttSessions()
  const open = (): Attempts =>
    new Attempts({ mqttSessions, runtime: { nowMs: () => 1 } }, CHANNEL_ID)
  for (let index = 0; index <= 32; index += 1) {
    for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts += 1) {
      t.true(await open().begin(of(index)))
    }
  }
  for (let index = 1; index <= 32; index += 1) t.false(await open().begin(of(index)))
  t.true(await open().begin(of(0)))
  t.is([...mqttSessions.rows.values()][0]?.exchanges.size, 32)
})

test('another process has the bridge: its attempts are not written over', async (t) => {
  const mqttSessions = new FakeMqttSessions()
  const [one, other] = [1, 2].map(
    (nowMs) => new Attempts({ mqttSessions, runtime: { nowMs: () => nowMs } }, CHANNEL_ID),
  )
  t.true(await one?.begin(of(1)))
  t.true(await other?.begin(of(2)))
  await t.throwsAsync(async () => one?.begin(of(3)))
  t.true(await one?.begin(of(3)), 'it begins anew')
})

test('a channel that keeps no further session has publishes taken without memory', async (t) => {
  const sessions = new FakeMqttSessions()
  sessions.enter = async () => ({ number: 1, kept: undefined })
  for (let ends = 0; ends <= ATTEMPTS_MAX; ends += 1) await endIn(sessions, AGAIN)
  t.deepEqual(await taken(AGAIN, { sessions }), TAKEN)
})

test('bridge-reading/2: a defect in the reading of a publish is acknowledged and counted, and told without it', async (t) => {
  const kept = readMappings([{ topic: 'poison', thing: 't' }])
  const [mapping] = isFault(kept) ? [] : kept
  if (mapping === undefined) return t.fail()
  const match = (levels: readonly string[]) => {
    if (levels[0] === 'poison') throw new Error('a defect with a secret')
    return undefined
  }
  const { listener, meter, logger, submitted } = bridgeRig([], {
    kept: [{ ...mapping, pattern: { ...mapping.pattern, match } }],
  })
  await listener.take({ ...SENSOR, topic: 'poison' })
  await listener.take(SENSOR)
  t.is(total(meter, 'broken'), 1)
  t.is(submitted.length, 1)
  const defects = logger.lines.filter(({ level }) => level === 'error')
  t.like(defects, [{ fields: { topic: 'poison', name: 'Error' } }])
  t.false(JSON.stringify(defects).includes('secret'))
  return undefined
})

test('translate/2: of a key that may not send the bridge reads nothing', async (t) => {
  const { listener, meter, submitted, unmapped } = bridgeRig([], { scopes: ['read'] })
  await listener.take({ ...SENSOR, topic: 'a/b/c' })
  await listener.take(SENSOR)
  t.deepEqual([submitted.length, unmapped.length, total(meter, 'refused')], [0, 0, 2])
})

const DESCRIPTION: BrokerPublish = {
  ...SENSOR,
  topic: 'homie/5/lamp/$description',
  payload: Buffer.from('{"nodes":{}}'),
}

test('bridge/4: what devices said is forgotten with a refusal, and with the bridge', async (t) => {
  const { listener, meter, own } = bridgeRig(['key_scope'])
  const bytes = (): number => meter.gauges.get('device_state_bytes{bridge}')?.() ?? -1
  await listener.take(DESCRIPTION)
  t.is(bytes(), 0)
  await listener.take(DESCRIPTION)
  t.true(bytes() > 0)
  await own(false)
  await own(true)
  t.is(bytes(), 0)
})

test('bridge-reading/1: what all devices behind the bridge said has a bound', async (t) => {
  const { listener, meter } = bridgeRig()
  const bytes = (): number => meter.gauges.get('device_state_bytes{bridge}')?.() ?? Infinity
  const payload = largeBirth()
  for (let index = 0; index < 40; index += 1) {
    await listener.take({ ...SENSOR, topic: `spBv1.0/g/NBIRTH/e${index}`, payload })
    t.true(bytes() <= 64 * 2 ** 20)
  }
  t.true(bytes() > 60 * 2 ** 20)
  t.true(meter.total('device_state_forgotten_total{bridge}') >= 8)
})
