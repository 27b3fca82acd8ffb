import test from 'ava'

import { ChannelDirectory } from '#actors/channel'
import { placeOf } from '#domain/lane'
import { channel, event, message, opId, thing } from '#test/support/submissions'
import { LIMITS, NOW_MS, REMEMBERED, newBench } from '#test/support/turn-bench'

test('W2: the effects of a turn and the places of its lanes are one commit', async (t) => {
  const bench = await newBench()
  const turn = bench.turnOf([message(), thing('create', 't'), event('create', 'e')])
  await bench.take(turn)
  t.is(bench.store.commits.length, 1)
  const [writes] = bench.store.commits
  t.deepEqual(writes?.lanes, [{ lane: 0, epoch: 1, from: 0, to: placeOf(1, 0) }])
  t.is(writes?.operations.length, 3)
  t.is(writes?.channels.length, 1)
  const [written] = writes?.channels ?? []
  t.is(written?.entries.length, 3)
  t.is(written?.things.length, 1)
  t.is(written?.events.length, 1)
  const counts = { headSeq: 3, things: 1, openEvents: 1 }
  t.deepEqual(written?.head, { channelId: channel(1), ref: 1, ...counts })
})

test('W2: a turn from another place or of another epoch changes nothing', async (t) => {
  const bench = await newBench()
  await bench.apply(message())
  const before = bench.store.snapshot()
  const lane = { epoch: 1, decidedTo: placeOf(1, 0) }
  for (const wrong of [{ decidedTo: 0 }, { epoch: 0 }, { epoch: 2 }]) {
    const turn = bench.turnOf([message()], { lanes: new Map([[0, { ...lane, ...wrong }]]) })
    t.deepEqual(await bench.take(turn), { kind: 'fenced', lanes: [0] })
  }
  t.is(bench.store.snapshot(), before)
})

test('turn/1: a turn announces exactly its commit', async (t) => {
  const bench = await newBench()
  const one = message({ channelId: channel(1) })
  const two = message({ channelId: channel(2) })
  const end = await bench.apply(two, one, message({ channelId: channel(1) }))
  t.deepEqual(
    [...end.channels].map(([id, { turn }]) => [id, turn.entries.map(({ seq }) => seq)]),
    [
      [channel(2), [1]],
      [channel(1), [1, 2]],
    ],
  )
  const entries = [...end.channels.values()].flatMap(({ turn }) => turn.entries)
  t.deepEqual(entries, bench.store.feed)
})

test('turn/1: a turn that is not committed gives nothing to announce', async (t) => {
  const bench = await newBench()
  bench.store.faultOf = (call) => (call === 'commit' ? 'refuse' : undefined)
  await t.throwsAsync(bench.apply(message()), { message: /refused/ })
  bench.store.faultOf = (call) => (call === 'commit' ? 'fence' : undefined)
  const end = await bench.take(bench.turnOf([message()]))
  t.deepEqual(end, { kind: 'fenced', lanes: [0] })
})

// Method: how a commit can fail to answer "committed".
for (const fault of ['refuse', 'lose', 'fence'] as const) {
  test(`channel/2: after a commit that was made to ${fault}, channels are loaded again`, async (t) => {
    const bench = await newBench()
    await bench.apply(thing('create', 't'))
    bench.store.faultOf = (call) => (call === 'commit' ? fault : undefined)
    await bench.take(bench.turnOf([thing('update', 't', { at: 2 })])).catch(() => undefined)
    bench.store.faultOf = () => undefined
    bench.store.loads.splice(0)

    const next = bench.turnOf([thing('update', 't', { at: 3 })])
    const decidedTo = bench.store.lanes.get(0)?.place ?? 0
    await bench.take({ ...next, lanes: new Map([[0, { epoch: 1, decidedTo }]]) })
    t.deepEqual(bench.store.loads, [
      {
        channels: [channel(1)],
        things: [{ channelId: channel(1), id: 't' }],
        events: [],
        watched: [{ channelId: channel(1), id: 't' }],
        operations: [],
      },
    ])
    t.is(bench.store.heads.get(channel(1))?.headSeq, fault === 'lose' ? 3 : 2)
    t.deepEqual(bench.store.violations, [])
  })
}

test('a turn reads once, and only state that no actor remembers', async (t) => {
  const bench = await newBench()
  await bench.apply(thing('create', 'known'), event('create', 'known'))
  bench.store.loads.splice(0)
  const claimed = message({ opId: 'mine', claims: true, channelId: channel(2) })
  await bench.apply(
    thing('update', 'known', { at: 2 }),
    thing('update', 'other'),
    thing('update', 'other', { at: 2 }),
    thing('create', 'new'),
    event('update', 'known', { at: 2 }),
    event('update', 'other'),
    message(),
    claimed,
  )
  t.deepEqual(bench.store.loads, [
    {
      channels: [channel(2)],
      things: [{ channelId: channel(1), id: 'other' }],
      events: [{ channelId: channel(1), id: 'other' }],
      watched: [],
      operations: [opId('mine')],
    },
  ])
})

test('an actor that slept reads written state again', async (t) => {
  const bench = await newBench()
  await bench.apply(thing('create', 't', { at: 5, attrs: { constructor: 1 } }))
  bench.directory = new ChannelDirectory(LIMITS)
  await bench.apply(thing('update', 't', { at: 4, attrs: { constructor: 2, late: 3 } }))
  const kept = bench.store.thing(channel(1), 't')
  t.like(kept, { rev: 2, seq: 2 })
  t.deepEqual(Object.keys(kept?.attrs.values ?? {}), ['constructor', 'late'])
  t.deepEqual(JSON.parse(bench.store.feed[1]?.payload ?? ''), {
    observed_at: 5,
    set_at: 4,
    attrs: { late: 3 },
  })
})

test('the ids of entities belong to their channel', async (t) => {
  const bench = await newBench()
  await bench.apply(
    thing('delete', 't', { channelId: channel(1) }),
    thing('create', 't', { channelId: channel(2) }),
  )
  bench.directory = new ChannelDirectory(LIMITS)
  const last = thing('update', 't', { channelId: channel(2), at: 2 })
  await bench.apply(last)
  t.is(bench.statusOf(last), 'sent')
  t.is(bench.store.thing(channel(1), 't')?.state, 'deleted')
  t.is(bench.store.thing(channel(2), 't')?.state, 'active')
})

test('every submission to an unknown channel fails with channel_not_found', async (t) => {
  const bench = await newBench()
  const lost = [message({ channelId: channel(9) }), thing('update', 't', { channelId: channel(9) })]
  const found = message()
  const end = await bench.apply(...lost, found)
  for (const submission of lost) t.is(bench.statusOf(submission), 'channel_not_found')
  t.is(bench.statusOf(found), 'sent')
  t.is(end.operations.length, 3)
  t.is(bench.store.feed.length, 1)
})

test('a channel that comes into being later is found by the next turn', async (t) => {
  const bench = await newBench()
  await bench.apply(message({ channelId: channel(9) }))
  bench.store.addChannel(channel(9))
  const later = message({ channelId: channel(9) })
  await bench.apply(later)
  t.is(bench.statusOf(later), 'sent')
})

test('W6: an unreadable item becomes a dead letter and its neighbours are applied', async (t) => {
  const bench = await newBench()
  const unreadable = { model: 'unreadable', payload: '{"a":', error: 'not JSON' } as const
  const neighbours = [message(), message()] as const
  const end = await bench.take(bench.turnOf([neighbours[0], unreadable, neighbours[1]]))
  t.like(end, { kind: 'committed', deadLetters: 1 })
  t.deepEqual(bench.store.deadLetters, [
    { lane: 0, position: 1, index: 1, payload: '{"a":', error: 'not JSON', at: NOW_MS },
  ])
  for (const neighbour of neighbours) t.is(bench.statusOf(neighbour), 'sent')
  t.is(bench.store.operations.size, 2)
})

test('W6: a submission that cannot be decided becomes a dead letter', async (t) => {
  const bench = await newBench()
  const broken = thing('create', 'broken')
  Object.defineProperty(broken, 'patch', {
    enumerable: false,
    get: () => {
      throw new Error('cannot be read')
    },
  })
  const neighbour = message()
  await bench.apply(broken, neighbour)
  t.is(bench.statusOf(broken), 'internal_error')
  t.is(bench.statusOf(neighbour), 'sent')
  t.like(bench.store.deadLetters[0], { index: 0, error: 'Error: cannot be read' })
  t.is(bench.store.deadLetters[0]?.payload, JSON.stringify(broken))
})

test('W6: an item to be set aside is so without being decided', async (t) => {
  const bench = await newBench()
  const breaks = message()
  const turn = bench.turnOf([breaks])
  const [item] = turn.items
  if (item === undefined) return t.fail()
  const end = await bench.take({ ...turn, setAside: new Map([[item, 'it breaks every turn']]) })
  t.like(end, { kind: 'committed', deadLetters: 1 })
  t.is(bench.statusOf(breaks), 'internal_error')
  t.is(bench.store.feed.length, 0)
  t.like(bench.store.deadLetters[0], { error: 'it breaks every turn', at: 1000 })
  t.is(bench.store.deadLetters[0]?.payload, JSON.stringify(breaks))
})

test('an empty effect moves the lane and writes the record, and leaves the head', async (t) => {
  const bench = await newBench()
  await bench.apply(thing('create', 't', { at: 2 }))
  const late = thing('update', 't', { at: 1 })
  const end = await bench.apply(late)
  t.deepEqual(end.channels.get(channel(1))?.turn.entries, [])
  t.is(bench.statusOf(late), 'sent')
  const [first, second] = bench.store.commits
  t.deepEqual(second?.channels[0]?.head, first?.channels[0]?.head)
  t.is(bench.store.lanes.get(0)?.place, placeOf(2, 0))
})

// Method: more entities than a channel remembers; the oldest is the one that is forgotten next.
for (const [kind, made] of [
  ['things', thing],
  ['events', event],
] as const) {
  test(`channel/3: ${kind} keep everything while the channel forgets them and reads them again`, async (t) => {
    const bench = await newBench()
    const ids = Array.from({ length: REMEMBERED + 1 }, (_, index) => `${index}`)
    const [oldest = '', second = ''] = ids
    await bench.apply(...ids.slice(0, -1).map((id) => made('create', id)))
    await bench.apply(...ids.slice(-1).map((id) => made('create', id)))
    bench.store.loads.splice(0)
    const keyOf = (id: string) => ({ channelId: channel(1), id })
    const needs = { channels: [], things: [], events: [], watched: [], operations: [] }
    await bench.apply(made('update', oldest, { at: 2 }))
    await bench.apply(made('update', oldest, { at: 3 }))
    await bench.apply(made('update', second, { at: 2 }))
    const kept = (id: string) =>
      kind === 'things' ? bench.store.thing(channel(1), id) : bench.store.event(channel(1), id)
    t.is(kept(oldest)?.rev, 3)
    t.is(kept(second)?.rev, 2)
    t.deepEqual(bench.store.loads, [{ ...needs, [kind]: [keyOf(second)] }])
  })
}
