import test from 'ava'

import type { Thing } from '#domain/entity'
import type { Submission, ThingSubmission } from '#domain/submission'
import { operationOf } from '#machines/decide'
import { decideEvent, decideMessage, decideThing, refusal } from '#test/support/single-decision'
import type { Decision } from '#test/support/single-decision'
import { channel, event, message, thing } from '#test/support/submissions'

const LIFE_MS = 1000
const RULES = { headSeq: 0, endedLifeMs: LIFE_MS }

/** Decides one after the other, as a channel with this one Thing would. */
function decideThings(submissions: readonly ThingSubmission[]): readonly Decision[] {
  let kept: Thing | undefined
  let headSeq = 0
  return submissions.map((submission) => {
    const decision = decideThing(submission, kept, { headSeq, endedLifeMs: LIFE_MS })
    kept = decision.thing ?? kept
    headSeq = decision.entry?.seq ?? headSeq
    return decision
  })
}

test('a Message takes the next seq and is delivered as it was sent', (t) => {
  const sent = message({ acceptedAt: 5, fields: { title: 'hello', tags: ['a'] } })
  const { entry, operation } = decideMessage(sent, 41)
  t.like(entry, {
    channelId: sent.channelId,
    seq: 42,
    opId: sent.opId,
    model: 'message',
    action: 'send',
    entityId: sent.entityId,
    acceptedAt: 5,
    payload: '{"title":"hello","tags":["a"]}',
  })
  t.is(entry?.state, undefined)
  t.is(entry?.rev, undefined)
  t.like(operation, { status: 'sent', acceptedAt: 5, updatedAt: 5 })
})

test('an entry holds the effective changes, under their names on the wire', (t) => {
  const made = thing('create', 't', {
    at: 9,
    fields: { title: 'Kitchen' },
    attrs: { on: true },
    externalIds: { ha: 'x' },
  })
  const [created, late] = decideThings([
    made,
    thing('update', 't', { at: 3, fields: { title: 'old' }, attrs: { on: false, colour: 'red' } }),
  ])
  t.deepEqual(JSON.parse(created?.entry?.payload ?? ''), {
    title: 'Kitchen',
    observed_at: 9,
    attrs: { on: true },
    external_ids: { ha: 'x' },
  })
  t.deepEqual(JSON.parse(late?.entry?.payload ?? ''), {
    observed_at: 9,
    set_at: 3,
    attrs: { colour: 'red' },
  })
  const opened = decideEvent(event('create', 'e', { at: 4, attrs: { p: 1 } }), undefined, RULES)
  t.deepEqual(JSON.parse(opened.entry?.payload ?? ''), { event_time: 4, attrs: { p: 1 } })
})

test('entity/1: an empty text is as old as its patch: it clears older values and no newer ones', (t) => {
  const decisions = decideThings([
    thing('create', 't', { at: 5, fields: { title: 'Kitchen', description: 'south' } }),
    thing('update', 't', { at: 7, fields: { title: '' } }),
    thing('update', 't', { at: 6, fields: { title: 'late', description: '' } }),
    thing('update', 't', { at: 4, fields: { description: 'too late' } }),
  ])
  t.deepEqual(
    decisions.map(({ entry }) => entry?.payload),
    [
      '{"title":"Kitchen","description":"south","observed_at":5}',
      '{"title":"","observed_at":7}',
      '{"description":"","observed_at":7,"set_at":6}',
      undefined,
    ],
  )
  const { values } = decisions.at(-1)?.thing?.fields ?? { values: {} }
  t.deepEqual({ ...values }, { title: '', description: '' })
})

test('late/1: late data of an archived Thing is kept, of one that is deleted or ends now it is not', (t) => {
  const created = thing('create', 't', { at: 5, attrs: { n: 5 } })
  const late = { at: 3, attrs: { n: 3, gone: null } }
  const kept = (...then: readonly ThingSubmission[]) =>
    decideThings([created, ...then]).at(-1)?.late?.payload
  const reading = '{"observed_at":3,"attrs":{"n":3}}'
  t.is(kept(thing('update', 't', late)), reading)
  t.is(kept(thing('archive', 't', { at: 6 }), thing('update', 't', late)), reading)
  t.is(kept(thing('archive', 't', late)), reading)
  t.is(kept(thing('delete', 't', late)), undefined)
  t.is(kept(thing('delete', 't', { at: 6 }), thing('update', 't', late)), undefined)
})

test('W9: an effective submission takes the next seq, any other takes none', (t) => {
  const decisions = decideThings([
    thing('create', 't', { at: 5, attrs: { on: true } }),
    thing('update', 't', { at: 4, attrs: { on: false } }),
    thing('update', 't', { at: 5, attrs: { on: true } }),
    thing('update', 't', { at: 6 }),
    thing('delete', 't', { at: 7 }),
    thing('update', 't', { at: 8 }),
  ])
  t.deepEqual(
    decisions.map(({ entry }) => entry?.seq),
    [1, undefined, undefined, 2, 3, undefined],
  )
  // The state names the entry of its last effective change: a device catches up by it.
  t.deepEqual(
    decisions.map(({ thing: after }) => after?.seq),
    [1, 1, 1, 2, 3, undefined],
  )
})

test('entity/3: rev grows by one per effective change and by none for any other', (t) => {
  const decisions = decideThings([
    thing('create', 't', { at: 5, attrs: { on: true } }),
    thing('update', 't', { at: 4, attrs: { on: false } }),
    thing('update', 't', { at: 5, attrs: { on: false } }),
    thing('update', 't', { at: 5, attrs: { on: false } }),
    thing('archive', 't', { at: 5 }),
  ])
  t.deepEqual(
    decisions.map(({ thing: after }) => after?.rev),
    [1, 1, 2, 2, 3],
  )
  t.deepEqual(
    decisions.map(({ entry }) => entry?.rev),
    [1, undefined, 2, undefined, 3],
  )
})

test('entity/3: a patch without effect is kept where it moves a time, and delivers nothing', (t) => {
  // The second reading says the same, later: a reading between them must not overwrite it.
  const [, same, between] = decideThings([
    thing('create', 't', { at: 1, attrs: { on: true } }),
    thing('update', 't', { at: 9, attrs: { on: true } }),
    thing('update', 't', { at: 5, attrs: { on: false } }),
  ])
  t.not(same?.thing, undefined)
  t.is(between?.entry, undefined)
  t.is(between?.operation.status, 'sent')
})

test('decide/1: a refusal delivers nothing and changes nothing but the record', (t) => {
  const submission = thing('update', 't', { acceptedAt: 77 })
  t.deepEqual(refusal(submission, 'thing_deleted'), {
    operation: {
      opId: submission.opId,
      channelId: submission.channelId,
      model: 'thing',
      entityId: submission.entityId,
      status: 'failed',
      acceptedAt: 77,
      updatedAt: 77,
      errorCode: 'thing_deleted',
    },
    liveThings: 0,
    openEvents: 0,
  })
})

test('decide/1: a too large change is refused whole', (t) => {
  const attrs = { text: 'x'.repeat(65_536) }
  const [, refused, after] = decideThings([
    thing('create', 't', { at: 1, attrs: { on: true } }),
    thing('delete', 't', { at: 2, attrs }),
    thing('update', 't', { at: 3, attrs: { on: false } }),
  ])
  t.is(refused?.operation.errorCode, 'attrs_too_large')
  t.is(refused?.thing, undefined)
  t.is(refused?.entry, undefined)
  t.is(refused?.liveThings, 0)
  t.is(after?.thing?.state, 'active')
  t.is(after?.entry?.seq, 2)
})

// Method: how long after its end, by submission time, something is asked for again; and what it is.
for (const [afterMs, isKnown] of [
  [0, true],
  [LIFE_MS, true],
  [LIFE_MS + 1, false],
] as const) {
  test(`W3: ${afterMs} ms after its end an entity is ${isKnown ? 'ended' : 'unknown'}`, (t) => {
    const [, thingDecision] = decideThings([
      thing('delete', 't', { acceptedAt: 5000, attrs: { old: 1 } }),
      thing('update', 't', { acceptedAt: 5000 + afterMs, attrs: { fresh: 1 } }),
    ])
    const closed = decideEvent(event('close', 'e', { acceptedAt: 5000 }), undefined, RULES).event
    const update = event('update', 'e', { acceptedAt: 5000 + afterMs })
    const eventDecision = decideEvent(update, closed, RULES)

    if (isKnown) {
      t.is(thingDecision?.operation.errorCode, 'thing_deleted')
      t.is(eventDecision.operation.errorCode, 'event_closed')
      return
    }
    t.like(thingDecision?.thing, { state: 'active', rev: 1 })
    t.deepEqual(Object.keys(thingDecision?.thing?.attrs.values ?? {}), ['fresh'])
    t.is(thingDecision?.liveThings, 1)
    t.like(eventDecision.event, { state: 'open', rev: 1 })
    t.is(eventDecision.openEvents, 1)
  })
}

test('W3: an entity that has not ended is never forgotten', (t) => {
  const active = decideThing(thing('create', 't', { acceptedAt: 1 }), undefined, RULES).thing
  const much = thing('update', 't', { acceptedAt: 10 ** 12, at: 2 })
  t.is(decideThing(much, active, RULES).thing?.rev, 2)
})

test('W3: every time in a decision comes from the submission', (t) => {
  const submissions: readonly Submission[] = [
    message({ acceptedAt: 12 }),
    thing('create', 't', { acceptedAt: 12 }),
    event('create', 'e', { acceptedAt: 12 }),
  ]
  for (const submission of submissions) {
    t.like(operationOf(submission), { acceptedAt: 12, updatedAt: 12 })
  }
  const made = thing('create', 't', { acceptedAt: 12, at: 3, channelId: channel(2) })
  const first = decideThing(made, undefined, RULES)
  t.deepEqual(decideThing(made, undefined, RULES), first)
  t.like(first.thing, { at: 3, stateAt: 3, changedAt: 12 })
})

test('decide/2: a sender of a prefix changes Events of its Things alone, and learns of no other', (t) => {
  const filed = (thingId: string) =>
    decideEvent(event('create', 'e', { fields: { thing_id: thingId } }), undefined, RULES).event
  for (const action of ['update', 'close'] as const) {
    const sent = { ...event(action, 'e', { at: 9 }), within: 'boiler-' }
    t.is(decideEvent(sent, filed('boiler-1'), RULES).operation.status, 'sent')
    const refused = [filed('door-1'), filed('boiler'), undefined].map((kept) =>
      decideEvent(sent, kept, RULES),
    )
    for (const { operation, event: changed, entry } of refused) {
      t.is(operation.errorCode, 'entity_not_found')
      t.deepEqual([changed, entry], [undefined, undefined])
    }
  }
})
