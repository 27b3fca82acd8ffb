// Turns: what is committed is what is loaded, all of it or nothing.

import test from 'ava'

import { LogMismatch, placeOf } from '#domain/lane'
import type { LogBounds, LogState } from '#domain/lane'
import { STORE_DEFECT } from '#domain/store-ports'
import type { TurnReads, TurnWrites } from '#domain/store-ports'
import { ChannelWriter, newChannel } from '#test/support/store-writer'
import { channel, event, message, opId, record, thing } from '#test/support/submissions'
import type { OpenStore } from './store-contract.ts'

const NOTHING: TurnReads = { channels: [], things: [], events: [], operations: [] }
const NO_WRITES: TurnWrites = {
  lanes: [],
  channels: [],
  operations: [],
  deadLetters: [],
}

/** A log that is still empty when nothing else is said. */
const log = (
  identity: string,
  lanes: number,
  ends: readonly number[] = Array<number>(lanes).fill(0),
): LogState => ({
  identity,
  lanes,
  bounds: () => Promise.resolve(ends.map((last) => ({ first: Math.min(1, last), last }))),
})

export function turnContract(engine: string, open: OpenStore): void {
  test(`${engine}: the next turn loads the state that a turn wrote`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const { channelId } = writer
    const chosen = message({ opId: 'chosen', claims: true, channelId })
    writer.take(
      thing('update', 'lamp', { attrs: { on: true, level: 3 }, externalIds: { shop: 'x1' } }),
      thing('update', 'lamp', { at: 2, attrs: { level: null }, fields: { tags: ['a', 'b'] } }),
      event('create', 'fire', { fields: { title: 'Fire', thing_id: 'lamp' } }),
      chosen,
    )
    t.deepEqual(await writer.commit(), { kind: 'committed' })

    const loaded = await store.turns.load({
      channels: [channelId],
      things: [
        { channelId, id: 'lamp' },
        { channelId, id: 'LAMP' },
        { channelId: channel(9), id: 'lamp' },
      ],
      events: [{ channelId, id: 'fire' }],
      operations: [opId('chosen'), opId('CHOSEN'), opId('other')],
    })
    t.deepEqual(loaded.channels, [writer.head])
    t.deepEqual(loaded.things, [{ ...writer.things.get('lamp'), channelId }] as unknown)
    t.deepEqual(loaded.events, [{ ...writer.events.get('fire'), channelId }] as unknown)
    const { entityId } = chosen
    const use = { opId: opId('chosen'), channelId, model: 'message', entityId } as const
    t.deepEqual(loaded.operations as unknown, [use])
  })

  test(`${engine}: names like __proto__ come back as plain data`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const submission = thing('update', 'lamp')
    const attrs = record([
      ['__proto__', { polluted: true }],
      ['constructor', 1],
    ])
    await writer.take({ ...submission, patch: { ...submission.patch, attrs } }).commit()

    const lamp = await store.read.thing(writer.channelId, 'lamp')
    t.false('toString' in (lamp?.attrs.values ?? {}))
    t.deepEqual(Object.keys(lamp?.attrs.values ?? {}), ['__proto__', 'constructor'])
    t.false('polluted' in {})
  })

  test(`${engine}: a turn of hundreds of things is written whole`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const ids = Array.from({ length: 301 }, (_, index) => `thing-${index}`)
    for (const id of ids) writer.take(thing('update', id, { attrs: { id } }))
    await writer.commit()

    const { channelId } = writer
    const needs = { ...NOTHING, things: ids.map((id) => ({ channelId, id })) }
    const loaded = await store.turns.load(needs)
    // In any order: the server may go through the keys or through the table.
    t.deepEqual(
      Object.fromEntries(loaded.things.map((one) => [one.id, one.attrs])),
      Object.fromEntries([...writer.things.values()].map((one) => [one.id, one.attrs])),
    )
    const page = await store.read.history({ channelId, limit: 400 })
    t.deepEqual(page.items, writer.feed)
  })

  test(`${engine}: an op_id that exists rejects the whole turn`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    await writer.take(message({ opId: 'twice' })).commit()
    const { headSeq } = writer.head
    writer.take(thing('update', 'lamp'), message({ opId: 'twice' }))
    await t.throwsAsync(writer.commit(), { name: STORE_DEFECT })

    const { channels } = await store.turns.load({ ...NOTHING, channels: [writer.channelId] })
    t.is(channels[0]?.headSeq, headSeq)
    t.is(await store.read.thing(writer.channelId, 'lamp'), undefined)
  })

  test(`${engine}: W2: a commit under another epoch or place writes nothing`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    await store.turns.takeLane({ lane: 2, epoch: 1 })
    const writes = writer.take(thing('update', 'lamp')).writes()
    const good = { lane: 1, epoch: 1, from: 0, to: 1 }
    const rows = [
      [[{ ...good, epoch: 2 }], [1]],
      [[{ ...good, epoch: 0 }], [1]],
      [[{ ...good, from: 1, to: 2 }], [1]],
      [[good, { ...good, lane: 2, from: 5 }], [2]],
      [[good, { ...good, lane: 3 }], [3]],
    ] as const
    for (const [lanes, fenced] of rows) {
      const committed = await store.turns.commit({ ...writes, lanes })
      t.deepEqual(committed, { kind: 'fenced', lanes: fenced })
      t.is(await store.read.thing(writer.channelId, 'lamp'), undefined)
    }
    t.deepEqual(await store.turns.commit(writes), { kind: 'committed' })
    t.deepEqual(await store.turns.commit(writes), { kind: 'fenced', lanes: [1] })
  })

  test(`${engine}: a lane is taken over with its place, never by a smaller epoch`, async (t) => {
    const store = await open(t)
    t.is(await store.turns.lastEpoch(), 0)
    const writer = await ChannelWriter.open(store, 1)
    await writer.take(message()).commit()
    t.is(await store.turns.takeLane({ lane: 1, epoch: 4 }), 1)
    t.is(await store.turns.takeLane({ lane: 1, epoch: 3 }), 'fenced')
    t.is(await store.turns.takeLane({ lane: 1, epoch: 4 }), 1)
    t.is(await store.turns.lastEpoch(), 4)
    t.deepEqual(await writer.take(message()).commit(), { kind: 'fenced', lanes: [1] })
  })

  test(`${engine}: W5: a database keeps to its log and its lanes`, async (t) => {
    const { turns } = await open(t)
    await turns.bindLog(log('first', 16))
    await t.notThrowsAsync(turns.bindLog(log('first', 16)))
    const other = await t.throwsAsync(turns.bindLog(log('second', 16)), { instanceOf: LogMismatch })
    t.regex(other?.message ?? '', /its own log/)
    const lanes = await t.throwsAsync(turns.bindLog(log('first', 8)), { instanceOf: LogMismatch })
    t.regex(lanes?.message ?? '', /SERVICE_LANES to 16/)
    await t.notThrowsAsync(turns.bindLog(log('first', 16)))
  })

  test(`${engine}: W5: a refused log does not bind a database that was free`, async (t) => {
    const { turns } = await open(t)
    await turns.bindLog(log('first', 16))
    await t.throwsAsync(turns.bindLog(log('second', 8)), { instanceOf: LogMismatch })
    await t.notThrowsAsync(turns.bindLog(log('first', 16)))
  })

  test(`${engine}: W5: a log that ends before the applied position is refused`, async (t) => {
    const { turns } = await open(t)
    await turns.bindLog(log('first', 2))
    await turns.takeLane({ lane: 1, epoch: 1 })
    const moved = { lane: 1, epoch: 1, from: 0, to: placeOf(7, 0) }
    await turns.commit({ ...NO_WRITES, lanes: [moved] })
    const lost = await t.throwsAsync(turns.bindLog(log('first', 2, [0, 6])), {
      instanceOf: LogMismatch,
    })
    t.regex(lost?.message ?? '', /lane 1 ends at 6 .* up to 7/)
    await t.notThrowsAsync(turns.bindLog(log('first', 2, [0, 7])))
  })

  test(`${engine}: W5: a log that has purged unapplied batches is refused`, async (t) => {
    const { turns } = await open(t)
    const holding = (first: number): LogState => ({
      identity: 'first',
      lanes: 1,
      bounds: () => Promise.resolve([{ first, last: 9 }]),
    })
    await turns.bindLog(holding(3))
    await turns.takeLane({ lane: 0, epoch: 1 })
    const moved = { lane: 0, epoch: 1, from: 0, to: placeOf(5, 1) }
    await turns.commit({ ...NO_WRITES, lanes: [moved] })
    await t.notThrowsAsync(turns.bindLog(holding(5)))
    const older = await t.throwsAsync(turns.bindLog(holding(6)), { instanceOf: LogMismatch })
    t.regex(older?.message ?? '', /lane 0 begins at 6 .* up to 5: .* older copy/)
  })

  test(`${engine}: W5: others may apply while the ends of the log are asked for`, async (t) => {
    const { turns } = await open(t)
    await turns.bindLog(log('first', 1))
    await turns.takeLane({ lane: 0, epoch: 1 })
    const move = (from: number, to: number) =>
      turns.commit({ ...NO_WRITES, lanes: [{ lane: 0, epoch: 1, from, to }] })
    await move(0, placeOf(5, 0))
    const bounds = async (): Promise<readonly LogBounds[]> => {
      // The end is known; before the answer arrives another node appends, and applies it.
      await move(placeOf(5, 0), placeOf(7, 0))
      return [{ first: 1, last: 6 }]
    }
    await t.notThrowsAsync(turns.bindLog({ identity: 'first', lanes: 1, bounds }))
  })

  test(`${engine}: a channel that was deleted is not loaded`, async (t) => {
    const store = await open(t)
    await store.channels.create(newChannel(channel(1)))
    await store.channels.create(newChannel(channel(2)))
    await store.channels.delete(channel(1), 1)
    const needs = { ...NOTHING, channels: [channel(1), channel(2), channel(3)] }
    const { channels } = await store.turns.load(needs)
    t.deepEqual(
      channels.map(({ channelId }) => channelId),
      [channel(2)],
    )
  })
}
