// A whole sole gateway in one thread, over wires in memory, with time turned by hand.

import { mkdir } from 'node:fs/promises'

import test from 'ava'

import { isFault } from '#domain/fault'
import type { Submission } from '#domain/submission'
import { HandTurnedRuntime } from '#test/support/hand-turned-runtime'
import { MemoryDevice } from '#test/support/memory-device'
import { addChannel, metricOf, startSoleGateway } from '#test/support/sole-gateway'
import type { SoleGateway } from '#test/support/sole-gateway'
import { databasePath } from '#test/support/sqlite-store'
import { channel, event, message, thing } from '#test/support/submissions'

const START_MS = 1_800_000_000_000
const COUNT = 1_000
const CPU_MS_MAX = 2_000
const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
/** Twice the time between two steps of retention, which also covers several purges. */
const UPKEEP_MS = MINUTE_MS
/** Updates stay until they are joined, as tiers count them then. (retention/5) */
const JOINED_MS = 10 * MINUTE_MS
const SHORT_LIVES = {
  SERVICE_HISTORY_RETENTION: '1m',
  SERVICE_STATUS_RETENTION: '1m',
  SERVICE_LOG_KEEP: '10s',
}

const A = channel(1)

/** Messages, changing Things, and Events, all accepted now. */
function submissionsAt(now: number): readonly Submission[] {
  return Array.from({ length: COUNT }, (_, index): Submission => {
    const parts = { channelId: A, acceptedAt: now, opId: `op-${index}` }
    if (index % 3 === 0) return message({ ...parts, fields: { body: `body ${index}` } })
    const patch = { ...parts, at: now + index, attrs: { index } }
    if (index % 3 === 1) return thing('update', `thing-${index % 7}`, patch)
    return event('create', `event-${index}`, patch)
  })
}

/** Hands everything in; gives how each was answered. */
async function submitAll(
  gateway: SoleGateway,
  submissions: readonly Submission[],
): Promise<readonly string[]> {
  const answers = Promise.all(submissions.map((submission) => gateway.sink.accept(submission)))
  return (await gateway.runtime.until(answers)).map(({ kind }) => kind)
}

async function startWithDevice(t: Parameters<typeof startSoleGateway>[0]) {
  const runtime = new HandTurnedRuntime(START_MS)
  const gateway = await startSoleGateway(t, runtime, { env: SHORT_LIVES })
  const device = new MemoryDevice('d'.repeat(32))
  await addChannel(gateway, A, [device])
  device.connect(gateway.sessions)
  await runtime.settle()
  return { runtime, gateway, device }
}

/**
 * The seqs that the device should have been given and was not, in their order. A device that falls
 * behind gets each changed Thing once, in the place of its last change.
 */
function seqsMissed(submissions: readonly Submission[], device: MemoryDevice): readonly number[] {
  const lastOf = new Map(submissions.map(({ entityId }, index) => [entityId, index]))
  const given = new Set(device.delivered.map(({ seq }) => seq))
  return submissions.flatMap(({ model, entityId }, index) => {
    const mayBeLeftOut = model === 'thing' && lastOf.get(entityId) !== index
    return given.has(index + 1) || mayBeLeftOut ? [] : [index + 1]
  })
}

test.serial(
  '1,000 submissions reach the device in order, and expire as the test advances the time',
  async (t) => {
    const before = process.cpuUsage()
    const { runtime, gateway, device } = await startWithDevice(t)
    const { operations, read, subscriptions } = gateway.backend.stores
    const submissions = submissionsAt(runtime.nowMs())

    const answers = await submitAll(gateway, submissions)
    t.deepEqual(new Set(answers), new Set(['accepted']))
    await runtime.pass(5 * SECOND_MS)
    t.deepEqual(seqsMissed(submissions, device), [])
    const seqs = device.delivered.map(({ seq }) => seq)
    t.deepEqual(
      seqs,
      seqs.toSorted((one, other) => one - other),
    )
    const first = submissions[0]
    if (first === undefined) return t.fail('there is no submission')
    t.is((await runtime.until(operations.find(first.opId)))?.status, 'sent')
    const position = await runtime.until(subscriptions.position(device.deviceId, A))
    t.is(position?.ackedSeq, COUNT)
    t.true((await metricOf(gateway, 'log_bytes')) > 0)

    await runtime.pass(MINUTE_MS + UPKEEP_MS)
    t.true(device.pings >= 4, `${device.pings} pings in two minutes`)
    t.is(device.closedWith, undefined)
    t.is(await runtime.until(operations.find(first.opId)), undefined)
    await runtime.pass(JOINED_MS + UPKEEP_MS)
    t.deepEqual((await runtime.until(read.history({ channelId: A, limit: 10 }))).items, [])
    t.true((await metricOf(gateway, 'retention_removed_total')) >= COUNT)

    await gateway.stop()
    t.deepEqual(gateway.failures, [])
    t.is(runtime.waiting, 0, 'a stopped gateway leaves no timer')
    // CPU, as the machine may be busy with something else.
    const { user, system } = process.cpuUsage(before)
    const tookMs = (user + system) / 1_000
    t.true(tookMs < CPU_MS_MAX, `${tookMs} ms`)
    t.log(`${Math.round(tookMs)} ms`)
  },
)

test.serial('the session of a device that answers no ping ends after the limit', async (t) => {
  const { runtime, device } = await startWithDevice(t)
  device.answersPings = false
  await runtime.pass(2 * MINUTE_MS)
  t.regex(device.closedWith ?? '', /no answer/)
})

test.serial('two runs with one seed are the same, frame by frame', async (t) => {
  const run = async (): Promise<readonly string[]> => {
    const { runtime, gateway, device } = await startWithDevice(t)
    for (const at of [1, 2, 3]) {
      const parts = { channelId: A, acceptedAt: runtime.nowMs(), at, attrs: { at } }
      await submitAll(
        gateway,
        [1, 2, 3].map((number) =>
          thing('update', `thing-${number}`, { ...parts, opId: `op-${at}-${number}` }),
        ),
      )
      await runtime.pass(MINUTE_MS)
    }
    await gateway.stop()
    return device.heard
  }
  const heard = await run()
  t.true(heard.length > 12, 'a welcome, nine deliveries and pings')
  t.deepEqual(await run(), heard)
})

test.serial('a Message that waits goes out, although its key was revoked meanwhile', async (t) => {
  const runtime = new HandTurnedRuntime(START_MS)
  const gateway = await startSoleGateway(t, runtime)
  const { channels, keys, submissions } = gateway.acceptance
  const caller = () => ({ receivedAtMs: runtime.nowMs() })
  const password = 'correct horse battery'
  const made = await runtime.until(channels.create({ channel_name: 'Bins', password }, caller()))
  if (isFault(made)) throw new Error(made.code)
  const proof = { channel_id: made.channelId, password }
  const key = await runtime.until(keys.create(proof, caller()))
  if (isFault(key)) throw new Error(key.code)
  const send = (more: object) =>
    runtime.until(
      Promise.resolve(
        submissions.submit(
          { model: 'message', action: 'send' },
          { password: key.key, title: 'Bins out', ...more },
          caller(),
        ),
      ),
    )
  t.false(isFault(await send({ delay: '1h' })))
  await runtime.until(keys.revoke({ ...proof, key_id: key.keyId }, caller()))
  await runtime.pass(SECOND_MS)
  t.like(await send({}), { code: 'channel_not_found' })
  await runtime.pass(61 * MINUTE_MS)
  const asked = { channelId: made.channelId, models: ['message'], afterSeq: 0, limit: 9 } as const
  const { items } = await runtime.until(gateway.backend.stores.read.history(asked))
  t.is(items.length, 1)
})

for (const [what, suffix] of [
  ['database', ''],
  ['log', '-log'],
] as const) {
  test.serial(
    `a gateway that cannot open its ${what} does not start, and gives the reason`,
    async (t) => {
      const path = await databasePath(t)
      await mkdir(`${path}${suffix}`) // A folder where the file should be.
      const runtime = new HandTurnedRuntime(START_MS)
      const starting = startSoleGateway(t, runtime, { path })
      await t.throwsAsync(starting, { message: /unable to open database file/ })
      t.is(runtime.waiting, 0)
    },
  )
}
