// Rules and what waits for a time: what a turn writes is what later turns load, in the order in
// which it is due.

import test from 'ava'

import type { ThingId } from '#domain/identity'
import type { PutOff, RuleWrites, Sweep, Watch, WatchWrite } from '#domain/rules/stored'
import { DUE_MAX, OF_EVENT, SWEEP_MAX } from '#domain/rules/stored'
import type { ScheduledMessage, ScheduledWrite } from '#domain/rules/scheduled'
import { ChannelWriter } from '#test/support/store-writer'
import { seeded } from '#test/support/random'
import { ruleId } from '#test/support/rules'
import { channel, event, message, opId, thing } from '#test/support/submissions'
import type { OpenStore } from './store-contract.ts'

const thingId = (text: string): ThingId => thing('update', text).entityId

const watch = (due: number | undefined, more: Partial<Watch> = {}): Watch => ({
  version: 'v',
  phase: 'quiet',
  since: 1,
  ...(due !== undefined && { due }),
  ...more,
})

const kept = (rule: string, id: string, state: Watch | Sweep | undefined): WatchWrite => ({
  ruleId: ruleId(rule),
  thingId: id,
  kept: state,
})

const stored = (id: string, text = '{}') => ({
  ruleId: ruleId(id),
  text,
  version: 'v',
  since: 1,
  createdAt: 1,
  updatedAt: 2,
})

const waitingMessage = (opIdText: string, deliverAt: number): ScheduledMessage => ({
  opId: opId(opIdText),
  messageId: message().entityId,
  deliverAt,
  fields: { title: 'ä', metadata: { a: 1 } },
})

/** Sorts by these values, the first one first; leaves out what has none. */
function inOrder<Row>(rows: readonly Row[], by: (row: Row) => readonly (string | number)[]) {
  const keyOf = (row: Row): string => by(row).join(' ')
  const found = rows.filter((row) => keyOf(row) !== '')
  return found.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
}

const rulesOf = (writes: Partial<RuleWrites>): RuleWrites => ({
  lane: 1,
  rules: [],
  watches: [],
  failures: [],
  ...writes,
})

export function ruleContract(engine: string, open: OpenStore): void {
  const opened = async (t: Parameters<OpenStore>[0]) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const { channelId } = writer
    const load = async (...ids: readonly string[]) =>
      store.turns.load({
        channels: [channelId],
        things: [],
        events: [],
        operations: [],
        watched: ids.map((id) => ({ channelId, id })),
      })
    return { store, writer, channelId, load }
  }

  test(`${engine}: the next turn loads the rules and the watches that a turn wrote`, async (t) => {
    const { writer, channelId, load } = await opened(t)
    const firing = watch(undefined, { phase: 'firing', eventId: 'fire' })
    writer.take(event('create', 'fire', { fields: { title: 'x', thing_id: 'a' } }))
    writer.rules = rulesOf({
      rules: ['r', 's'].map((id) => ({ ruleId: ruleId(id), stored: stored(id, `{"${id}":"ä"}`) })),
      watches: [kept('r', 'a', firing), kept('s', 'a', watch(5)), kept('s', 'b', watch(6))],
    })
    await writer.commit()
    const loaded = await load('a')
    t.deepEqual(loaded.rules, [
      { ...stored('r', '{"r":"ä"}'), channelId },
      { ...stored('s', '{"s":"ä"}'), channelId },
    ])
    t.deepEqual(loaded.watches, [
      { channelId, ruleId: ruleId('r'), thingId: thingId('a'), watch: firing },
      { channelId, ruleId: ruleId('s'), thingId: thingId('a'), watch: watch(5) },
    ])
    t.deepEqual(
      loaded.events.map(({ id }) => id),
      ['fire'],
    )
    writer.rules = rulesOf({
      rules: [{ ruleId: ruleId('r'), stored: undefined }],
      watches: [kept('r', 'a', undefined), kept('s', 'a', watch(9))],
      failures: [{ ruleId: ruleId('s'), count: 3, last: 'missing' }],
    })
    await writer.commit()
    const again = await load('a', 'b', 'c')
    t.deepEqual(
      again.rules.map((one) => one.ruleId),
      [ruleId('s')],
    )
    t.deepEqual(
      again.watches.map(({ watch: { due } }) => due),
      [9, 6],
    )
  })

  test(`${engine}: R7: what is due comes in the order of its time, then of rule and Thing`, async (t) => {
    const { store, writer } = await opened(t)
    const random = seeded(7)
    const ids = ['a', 'B', 'b', 'b-1', 'b0', 'Z', 'z']
    const rows = ids.flatMap((rule) =>
      ids.map((id) => ({ rule, id, due: random(9) > 7 ? undefined : 4 + random(4) })),
    )
    writer.rules = rulesOf({ watches: rows.map(({ rule, id, due }) => kept(rule, id, watch(due))) })
    const waiting = [...ids, ...ids].map((id, index) =>
      waitingMessage(`${id}-${index}`, 4 + random(4)),
    )
    writer.scheduled = {
      lane: 1,
      messages: waiting.map((one) => ({ opId: one.opId, kept: one })),
    }
    await writer.commit()
    const [due] = await store.turns.due(1, 6)
    t.deepEqual(
      due?.items.map((item) => ('thingId' in item ? `${item.ruleId} ${item.thingId}` : '')),
      inOrder(rows, ({ due: at = 7, rule, id }) => (at > 6 ? [] : [at, rule, id])).map(
        ({ rule, id }) => `${rule} ${id}`,
      ),
    )
    t.deepEqual(
      due?.messages?.map((one) => one.opId),
      inOrder(waiting, ({ deliverAt: at, opId: id }) => (at > 6 ? [] : [at, id])).map(
        (one) => one.opId,
      ),
    )
    t.is(await store.turns.nextDue(1), 4)
    t.deepEqual(await store.turns.due(2, 6), [])
    t.is(await store.turns.nextDue(2), undefined)
  })

  test(`${engine}: R7: no more than DUE_MAX rows are due at once`, async (t) => {
    const { store, writer } = await opened(t)
    const ids = Array.from({ length: DUE_MAX + 1 }, (_, index) => `t${10_000 + index}`)
    writer.rules = rulesOf({ watches: ids.map((id) => kept('r', id, watch(1))) })
    await writer.commit()
    const [due] = await store.turns.due(1, 1)
    t.is(due?.items.length, DUE_MAX)
  })

  test(`${engine}: R7: a sweep counts as the Things that it looks at`, async (t) => {
    const { store, writer } = await opened(t)
    const ids = Array.from({ length: SWEEP_MAX }, (_, index) => `t${10_000 + index}`)
    const watches = ['p', 'q', 'r'].flatMap((one) => [
      ...ids.map((id) => kept(one, id, watch(undefined))),
      kept(one, '', { cursor: '', isOfThings: false, due: 1 }),
    ])
    writer.rules = rulesOf({ watches })
    await writer.commit()
    const [due] = await store.turns.due(1, 1)
    t.is(due?.items.length, DUE_MAX / SWEEP_MAX)
  })

  test(`${engine}: a sweep finds watched Things and, if it asks for them, all others`, async (t) => {
    const { store, writer } = await opened(t)
    writer.take(...['a', 'c'].map((id) => thing('update', id)))
    const sweep = (isOfThings: boolean): Sweep => ({ cursor: 'a', isOfThings, due: 1 })
    writer.rules = rulesOf({
      watches: [
        kept('r', 'b', watch(undefined)),
        kept('r', '', sweep(true)),
        kept('s', 'd', watch(undefined)),
        kept('s', '', sweep(false)),
      ],
    })
    await writer.commit()
    const [due] = await store.turns.due(1, 1)
    const found = (due?.items ?? []).flatMap((item) => ('thingIds' in item ? item : []))
    t.deepEqual(
      found.map((item) => `${item.ruleId} ${item.thingIds.join(' ')}`),
      ['r b c', 's d'],
    )
  })

  test(`${engine}: a Message that waits is found, due at its time, and goes with its record`, async (t) => {
    const { store, writer, channelId } = await opened(t)
    const [late, soon] = [waitingMessage('late', 6), waitingMessage('soon', 5)]
    const commit = async (...messages: readonly ScheduledWrite[]): Promise<void> => {
      writer.scheduled = { lane: 1, messages }
      await writer.commit()
    }
    await commit(...[late, soon].map((one) => ({ opId: one.opId, kept: one })))
    const read = async () => {
      const scheduled = [{ channelId, opIds: [late.opId, opId('none')] }]
      const none = { channels: [], things: [], events: [], operations: [] }
      return (await store.turns.load({ ...none, scheduled })).scheduled
    }
    t.deepEqual(await read(), [{ channelId, waiting: 2, found: [late] }])
    t.is(await store.turns.nextDue(1), 5)
    t.deepEqual(await store.turns.due(1, 4), [])
    t.deepEqual(await store.turns.due(1, 5), [{ channelId, items: [], messages: [soon] }])
    writer.rules = rulesOf({ watches: [kept('r', 'a', watch(6))] })
    await commit({ opId: soon.opId, kept: undefined })
    const item = { ruleId: ruleId('r'), thingId: thingId('a') }
    t.deepEqual(await store.turns.due(1, 6), [{ channelId, items: [item], messages: [late] }])
    t.deepEqual(await store.turns.due(2, 6), [])
    await store.channels.delete(channelId, 1)
    t.deepEqual(await store.turns.due(1, 6), [])
    t.is(await store.turns.nextDue(1), undefined)
  })

  test(`${engine}: W6: what is put off is due later; what is left out is not due; both count`, async (t) => {
    const { store, writer, channelId } = await opened(t)
    writer.rules = rulesOf({ watches: ['a', 'b'].map((id) => kept('r', id, watch(5))) })
    const waits = { messageId: message().entityId, deliverAt: 4, fields: {} }
    const opIdOf = opId('waits')
    writer.scheduled = { lane: 1, messages: [{ opId: opIdOf, kept: { opId: opIdOf, ...waits } }] }
    await writer.commit()
    t.is(await store.turns.deadlines(1), 3)
    t.is(await store.turns.deadlines(2), 0)
    const [first] = await store.turns.due(1, 5, { max: 1 })
    t.deepEqual([first?.messages?.length, first?.items], [1, []])
    const putOff = async (item: PutOff['item']): Promise<void> => {
      await store.turns.commit({ ...writer.writes(), putOff: { channelId, item, until: 9 } })
      writer.skip()
    }
    await putOff({ opId: opIdOf })
    await putOff({ ruleId: ruleId('r'), thingId: 'a' })
    t.deepEqual(await store.turns.due(1, 5), [
      { channelId, items: [{ ruleId: ruleId('r'), thingId: thingId('b') }] },
    ])
    const other = channel(9)
    t.deepEqual(await store.turns.due(1, 9, { except: [other, channelId] }), [])
    t.is((await store.turns.due(1, 9, { except: [other] })).length, 1)
    t.is(await store.turns.deadlines(1), 3)
  })

  test(`${engine}: R7: an Event is due as such, before rules, and is no watch of a Thing`, async (t) => {
    const { store, writer, channelId, load } = await opened(t)
    const deadline = (id: string, due: number | undefined): WatchWrite => ({
      ruleId: OF_EVENT,
      thingId: id,
      kept: due === undefined ? due : { due },
    })
    const own = watch(5)
    writer.rules = rulesOf({
      watches: [kept('r', 'a', own), deadline('a', 5), deadline('b', 4), deadline('c', 5)],
    })
    await writer.commit()
    t.deepEqual(
      (await load('a', 'b')).watches.map((one) => one.watch),
      [own],
    )
    writer.rules = rulesOf({ watches: [deadline('b', 7), deadline('c', undefined)] })
    await writer.commit()
    const items = [{ eventId: 'a' }, { ruleId: ruleId('r'), thingId: thingId('a') }]
    t.deepEqual(await store.turns.due(1, 6), [{ channelId, items }])
    const item = { ruleId: OF_EVENT, thingId: 'a' }
    await store.turns.commit({ ...writer.writes(), putOff: { channelId, item, until: 9 } })
    writer.skip()
    t.deepEqual(await store.turns.due(1, 6), [{ channelId, items: items.slice(1) }])
    const [due] = await store.turns.due(1, 9)
    t.deepEqual(due?.items, [items[1], { eventId: 'b' }, items[0]])
  })

  test(`${engine}: rule-rows/1: nothing is due in a deleted channel`, async (t) => {
    const { store, writer, channelId } = await opened(t)
    writer.rules = rulesOf({ watches: [kept('r', 'a', watch(1))] })
    await writer.commit()
    await store.channels.delete(channelId, 1)
    t.deepEqual(await store.turns.due(1, 5), [])
    t.is(await store.turns.nextDue(1), undefined)
  })
}
