// The order of a device's jobs, what updates of Things may be sent, and jobs that cannot be read.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { decideMessage } from '#machines/decide'
import type { Store } from '#src/store/store'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, message, opId, thing } from '#test/support/submissions'
import {
  CLAIM_MS,
  RULES,
  Worker,
  addPushDevice,
  deferred,
  delivered,
  deviceId,
  placesOf,
} from '#test/support/push-jobs'
import type { OpenStore } from './store-contract.ts'
import { rounds } from '#test/support/until'

const A = channel(1)
const NOW = 2_000
const INTERVAL = RULES.thingIntervalMs

/** A store with a channel to which one device of Apple is subscribed. */
async function withDevice(
  open: OpenStore,
  t: ExecutionContext,
): Promise<{ store: Store; writer: ChannelWriter }> {
  const store = await open(t, RULES)
  const writer = await ChannelWriter.open(store, 1)
  await addPushDevice(store, A, 1)
  return { store, writer }
}

/** The worker sends an update of a Thing; the next one is held until the interval is over. */
async function holdUpdate(writer: ChannelWriter, worker: Worker): Promise<void> {
  await writer.take(thing('update', 'lamp', { at: 1, attrs: { on: true } })).commit()
  await worker.settle(NOW, ...(await worker.claim(NOW)).map(delivered))
  await writer.take(thing('update', 'lamp', { at: 2, attrs: { on: false } })).commit()
}

export function pushOrderContract(engine: string, open: OpenStore): void {
  test(`${engine}: a device with a new route does not wait for what the old one was told`, async (t) => {
    const { store, writer } = await withDevice(open, t)
    const worker = new Worker(store)
    await writer.take(message()).commit()
    const HOUR_MS = 3_600_000
    await worker.settle(NOW, ...(await worker.claim(NOW)).map((push) => deferred(push, HOUR_MS)))
    await writer.take(message()).commit()
    t.deepEqual(await worker.claim(NOW), [], 'the second waits behind the first')
    await store.devices.setRoute(deviceId(1), 'apns', 'token 1')
    t.deepEqual(await worker.claim(NOW), [], 'the same route was refused')
    await store.devices.setRoute(deviceId(1), 'apns', 'token 2')
    t.deepEqual(placesOf(await worker.claim(NOW)), ['token 2 1', 'token 2 2'])
  })

  test(`${engine}: claiming/3: a push that ended under a clock that was ahead holds no later one`, async (t) => {
    const { store, writer } = await withDevice(open, t)
    const worker = new Worker(store)
    const pushed = async (at: number, settledMs: number): Promise<number> => {
      await writer.take(thing('update', 'lamp', { at, attrs: { at } })).commit()
      const claimed = await worker.claim(NOW)
      await worker.settle(settledMs, ...claimed.map(delivered))
      return claimed.length
    }
    t.is(await pushed(1, NOW + 10 * INTERVAL), 1)
    await store.pushes.tend(NOW)
    t.is(await pushed(2, NOW), 1)
    await store.pushes.tend(NOW)
    t.is(await pushed(3, NOW), 0, 'the interval is held')
  })

  test(`${engine}: claiming/2: nothing overtakes a deferred job of its device`, async (t) => {
    const { store, writer } = await withDevice(open, t)
    await addPushDevice(store, A, 2)
    await writer.take(message(), message()).commit()
    const worker = new Worker(store)
    const claimed = await worker.claim(NOW)
    t.deepEqual(placesOf(claimed).toSorted(), ['token 1 1', 'token 1 2', 'token 2 1', 'token 2 2'])
    const ofFirst = claimed.filter(({ route }) => route.token === 'token 1')
    const [head, second] = ofFirst
    if (head === undefined || second === undefined) return t.fail('two jobs of the first device')
    await worker.settle(NOW, deferred(head, NOW + 5_000), deferred(second, NOW, false))
    await writer.take(message()).commit()

    t.deepEqual(placesOf(await worker.claim(NOW + 10)), ['token 2 3'])
    t.deepEqual(placesOf(await worker.claim(NOW + 4_999)), [])
    t.deepEqual(placesOf(await worker.claim(NOW + 5_000)), ['token 1 1', 'token 1 2', 'token 1 3'])
    return undefined
  })

  test(`${engine}: claiming/2: a device's jobs are with one worker at a time`, async (t) => {
    const { store, writer } = await withDevice(open, t)
    await writer.take(message(), message(), message()).commit()
    const [one, other] = [new Worker(store, 'one'), new Worker(store, 'other')]
    const first = await one.claim(NOW, 'apns', 1)
    t.deepEqual(placesOf(first), ['token 1 1'])
    t.deepEqual(placesOf(await other.claim(NOW)), [])
    t.deepEqual(placesOf(await one.claim(NOW + 100, 'apns', 1)), ['token 1 2'])
    await one.settle(NOW, ...first.map(delivered))
    t.deepEqual(placesOf(await other.claim(NOW + 300)), [], 'the second is with the first worker')
    t.deepEqual(placesOf(await other.claim(NOW + 100 + CLAIM_MS)), ['token 1 2', 'token 1 3'])
  })

  test(`${engine}: claiming/5: the jobs of a worker that is gone come before later ones of their device`, async (t) => {
    const { store, writer } = await withDevice(open, t)
    await writer.take(...Array.from({ length: 6 }, () => message())).commit()
    const [gone, other] = [new Worker(store, 'gone'), new Worker(store, 'other')]
    t.deepEqual(placesOf(await gone.claim(NOW, 'apns', 2)), ['token 1 1', 'token 1 2'])
    const nowMs = NOW + CLAIM_MS
    for (const pair of [
      [1, 2],
      [3, 4],
      [5, 6],
    ]) {
      const places = placesOf(await other.claim(nowMs, 'apns', 2))
      t.deepEqual(
        places,
        pair.map((seq) => `token 1 ${seq}`),
        'none was put off',
      )
    }
  })

  test(`${engine}: claiming/5: several devices share a claim, each with its first jobs`, async (t) => {
    const store = await open(t, RULES)
    const writer = await ChannelWriter.open(store, 1)
    await addPushDevice(store, A, 1)
    await addPushDevice(store, A, 2)
    for (let count = 0; count < 6; count += 1) await writer.take(message()).commit()
    const [gone, other] = [new Worker(store, 'gone'), new Worker(store, 'other')]
    t.is((await gone.claim(NOW, 'apns', 8)).length, 8)
    const places = (seqs: readonly number[]) =>
      seqs.flatMap((seq) => [`token 1 ${seq}`, `token 2 ${seq}`])
    for (const seqs of [[1, 2], [3, 4], [5, 6], []]) {
      const claimed = await other.claim(NOW + CLAIM_MS, 'apns', 4)
      t.deepEqual(placesOf(claimed).toSorted(), places(seqs).toSorted())
    }
  })

  test(`${engine}: jobs behind those of a worker that is gone are asked for ever more rarely`, async (t) => {
    const { store, writer } = await withDevice(open, t)
    await writer.take(message(), message(), message()).commit()
    const [gone, other] = [new Worker(store, 'gone'), new Worker(store, 'other')]
    await gone.claim(NOW, 'apns', 1)
    const askedAt = [NOW]
    for (const goOn = rounds(); goOn();) {
      const nowMs = askedAt.at(-1) ?? NOW
      const { pushes, nextDueMs = 0 } = await other.claimAll(nowMs)
      if (pushes.length > 0) {
        t.deepEqual(placesOf(pushes), ['token 1 1', 'token 1 2', 'token 1 3'])
        break
      }
      askedAt.push(Math.max(nextDueMs, nowMs + 1))
    }
    t.is((askedAt[1] ?? 0) - NOW, 100, 'soon at first')
    t.is(askedAt.at(-1), NOW + CLAIM_MS, 'and when the claim ends')
    t.true(askedAt.length < 25, `${askedAt.length} times`)
  })

  test(`${engine}: claiming/3: a Thing sends one update an interval, the newest`, async (t) => {
    const { store, writer } = await withDevice(open, t)
    const update = (at: number, id = 'lamp') =>
      writer.take(thing('update', id, { at, opId: `${id}-${at}`, attrs: { at } })).commit()
    const worker = new Worker(store)
    await update(1)
    const first = await worker.claim(NOW)
    await worker.settle(NOW, ...first.map(delivered))
    t.is((await store.operations.find(opId('lamp-1')))?.status, 'sent')

    await update(2)
    t.like(await worker.claimAll(NOW + 10), { pushes: [], nextDueMs: NOW + INTERVAL })
    await update(3)
    await update(4, 'door')
    const other = await worker.claim(NOW + 20)
    t.deepEqual(placesOf(other), ['token 1 4'])
    await worker.settle(NOW + 20, ...other.map(delivered))
    t.like(await worker.claimAll(NOW + INTERVAL - 1), { pushes: [], superseded: 0 })
    const later = await worker.claimAll(NOW + INTERVAL)
    t.deepEqual(placesOf(later.pushes), ['token 1 3'])
    t.is(later.superseded, 1)
    t.is((await store.operations.find(opId('lamp-2')))?.status, 'sent')
  })

  test(`${engine}: claiming/3: an update waits while one of the same Thing is with a worker`, async (t) => {
    const { store, writer } = await withDevice(open, t)
    const worker = new Worker(store)
    await writer.take(thing('update', 'lamp', { at: 1, attrs: { on: true } })).commit()
    t.is((await worker.claim(NOW)).length, 1)
    await writer.take(thing('update', 'lamp', { at: 2, attrs: { on: false } })).commit()
    t.deepEqual(placesOf(await worker.claim(NOW + 1)), [])
  })

  test(`${engine}: claiming/3: one of many workers at once sends an update of a Thing`, async (t) => {
    const store = await open(t, RULES)
    const writer = await ChannelWriter.open(store, 1)
    for (let number = 1; number <= 4; number += 1) await addPushDevice(store, A, number)
    const workers = Array.from({ length: 6 }, (_, index) => new Worker(store, `w${index}`))
    const sent: string[] = []
    for (let round = 1; round <= 12; round += 1) {
      const nowMs = NOW + round * 300
      const turn = writer.take(thing('update', 'lamp', { at: round, attrs: { round } })).commit()
      const claims = workers.map((worker) => worker.claim(nowMs))
      await turn
      for (const [index, pushes] of (await Promise.all(claims)).entries()) {
        sent.push(...pushes.map(({ route }) => route.token))
        await workers[index]?.settle(nowMs, ...pushes.map(delivered))
      }
    }
    t.deepEqual(sent.toSorted(), ['token 1', 'token 2', 'token 3', 'token 4'])
  })

  test(`${engine}: claiming/3: the end of a Thing is not held back, and takes held updates along`, async (t) => {
    const { store, writer } = await withDevice(open, t)
    const worker = new Worker(store)
    await holdUpdate(writer, worker)
    t.deepEqual(placesOf(await worker.claim(NOW + 10)), [])
    await writer.take(thing('delete', 'lamp', { at: 3 })).commit()
    const ended = await worker.claim(NOW + 20)
    t.deepEqual(placesOf(ended), ['token 1 3'])
    await worker.settle(NOW + 20, ...ended.map(delivered))
    const later = await worker.claimAll(NOW + 20 + INTERVAL)
    t.like(later, { pushes: [], superseded: 1 })
  })

  test(`${engine}: later pushes pass a held update`, async (t) => {
    const { store, writer } = await withDevice(open, t)
    const worker = new Worker(store)
    await holdUpdate(writer, worker)
    await worker.claim(NOW + 10)
    await writer.take(message()).commit()
    t.deepEqual(placesOf(await worker.claim(NOW + 20)), ['token 1 3'])
  })

  test(`${engine}: W6: a push whose entry cannot be read is set aside, and the others go on`, async (t) => {
    const { store, writer } = await withDevice(open, t)
    const payloads = ['{}', '{"title":', '[]', '{}']
    const decided = payloads.map((payload, at) => {
      const { changes, operation } = decideMessage(message({ opId: `m${at}` }), at)
      const made = changes.flatMap(({ entry }) => (entry === undefined ? [] : [entry]))
      return { operation, entries: made.map((entry) => ({ ...entry, payload })) }
    })
    await store.turns.takeLane({ lane: 2, epoch: 1 })
    const entries = decided.flatMap((one) => one.entries)
    await store.turns.commit({
      lanes: [{ lane: 2, epoch: 1, from: 0, to: 1 }],
      channels: [{ head: { ...writer.head, headSeq: 4 }, things: [], events: [], entries }],
      operations: decided.map(({ operation }) => operation),
      deadLetters: [],
    })
    const claimed = await new Worker(store).claimAll(NOW)
    t.deepEqual(placesOf(claimed.pushes), ['token 1 1', 'token 1 4'])
    t.like(claimed, { unreadable: 2, expired: 0, superseded: 0, ended: { failed: 2 } })
    t.like(await store.operations.find(opId('m1')), { status: 'failed', errorCode: 'push_failed' })
  })

  test(`${engine}: settling/2: an operation with several entries has a push of each, and ends with the last`, async (t) => {
    const { store, writer } = await withDevice(open, t)
    const { channels, ...writes } = writer.take(message({ opId: 'm' })).writes()
    const [written] = channels
    const [entry] = written?.entries ?? []
    if (written === undefined || entry === undefined) return t.fail('an entry')
    const entries = [entry, { ...entry, seq: 2 }]
    const head = { ...written.head, headSeq: 2 }
    await store.turns.commit({ ...writes, channels: [{ ...written, head, entries }] })
    const worker = new Worker(store)
    const pushes = await worker.claim(NOW)
    t.deepEqual(placesOf(pushes), ['token 1 1', 'token 1 2'])
    for (const [at, expected] of [
      [0, 'provider_queued'],
      [1, 'sent'],
    ] as const) {
      await worker.settle(NOW, ...pushes.slice(at, at + 1).map(delivered))
      t.is((await store.operations.find(opId('m')))?.status, expected)
    }
    return undefined
  })
}
