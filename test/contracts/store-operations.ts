// Records of operations, and the claims of client-chosen op_ids.

import test from 'ava'

import { operationIdFrom, parseMessageId } from '#domain/identity'
import type { EntityId } from '#domain/identity'
import type { Claim } from '#domain/operation'
import { STORE_DEFECT } from '#domain/store-ports'
import type { TurnReads } from '#domain/store-ports'
import type { Submission } from '#domain/submission'
import { NEVER } from '#test/support/retention-limits'
import { stepsOf } from '#test/support/retired'
import { ChannelWriter } from '#test/support/store-writer'
import { acceptedOperation, channel, message, opId, thing } from '#test/support/submissions'
import type { OpenStore } from './store-contract.ts'

function messageId(number: number): EntityId {
  const id = parseMessageId(number.toString(16).padStart(32, '0'))
  if (id === undefined) throw new Error('not a message id')
  return id
}

const CLAIM: Claim = {
  opId: opId('order-1'),
  channelId: channel(1),
  thingId: '',
  contentHash: 'a'.repeat(64),
  messageId: messageId(1),
  claimedAt: 1_000,
}

export function operationContract(engine: string, open: OpenStore): void {
  test(`${engine}: a record is found under exactly its op_id`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const lamp = thing('delete', 'lamp', { opId: 'ends', acceptedAt: 700 })
    const late = thing('update', 'lamp', { opId: 'too-late', acceptedAt: 800, at: 9 })
    await writer.take(lamp, late).commit()
    const record = {
      channelId: channel(1),
      model: 'thing',
      entityId: lamp.entityId,
    } as const
    t.deepEqual(await store.operations.find(opId('ends')), {
      ...record,
      opId: opId('ends'),
      status: 'sent',
      acceptedAt: 700,
      updatedAt: 700,
    })
    t.deepEqual(await store.operations.find(opId('too-late')), {
      ...record,
      opId: opId('too-late'),
      status: 'failed',
      acceptedAt: 800,
      updatedAt: 800,
      errorCode: 'thing_deleted',
    })
    t.is(await store.operations.find(opId('ENDS')), undefined)
  })

  test(`${engine}: operations that ended at once share a record, in which each is found`, async (t) => {
    const store = await open(t)
    const writers = [await ChannelWriter.open(store, 1), await ChannelWriter.open(store, 2)]
    const sent: Submission[] = []
    for (const { channelId } of writers) {
      for (let count = 0; count < 150; count += 1) {
        // More than a row may hold, and over more than the time of a row. (operation-batches/1)
        const parts = { channelId, acceptedAt: 50_000 + 300 * count }
        sent.push(message(parts), thing('update', `t${count}`, parts))
      }
    }
    for (const writer of writers) {
      writer.take(...sent.filter(({ channelId }) => channelId === writer.channelId))
      await writer.commit()
    }
    const found = await Promise.all(sent.map(({ opId: id }) => store.operations.find(id)))
    t.deepEqual(
      found,
      sent.map((one) => ({ ...acceptedOperation(one), status: 'sent' })),
    )
    const [first] = sent
    const others = [
      message({ acceptedAt: first?.acceptedAt ?? 0 }).opId,
      operationIdFrom(60_000, first?.opId.slice(14) ?? ''),
    ]
    t.deepEqual(await Promise.all(others.map((id) => store.operations.find(id))), [
      undefined,
      undefined,
    ])
    const asked = { channels: [], things: [], events: [], operations: [first?.opId ?? others[0]] }
    const { opId: id, channelId, model, entityId } = first ?? message()
    t.deepEqual((await store.turns.load(asked as TurnReads)).operations, [
      { opId: id, channelId, model, entityId },
    ])
  })

  test(`${engine}: operation-batches/2: a batch that is in the log twice is refused`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const batch = [thing('update', 'a'), thing('update', 'b')]
    await writer.take(...batch).commit()
    const again = writer.take(...batch).commit()
    t.is((await t.throwsAsync(again))?.name, STORE_DEFECT)
  })

  test(`${engine}: operations/4: an op_id in the record of a batch is taken while that stays`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const [early, late] = [thing('update', 'a'), thing('update', 'b', { acceptedAt: 1_002 })]
    await writer.take(early, late).commit()
    const claim = { ...CLAIM, opId: early.opId, claimedAt: 9_000 }
    const taken = { kind: 'conflict', code: 'op_id_scope_conflict' } as const
    t.deepEqual(await store.operations.claim(claim, 0), taken)
    t.deepEqual(await store.operations.claim(claim, 1_001), taken)
    await stepsOf(store, { ...NEVER, operations: 1_002 }, 9)
    t.not(await store.operations.find(early.opId), undefined)
    await stepsOf(store, { ...NEVER, operations: 1_003 }, 9)
    t.is(await store.operations.find(early.opId), undefined)
    t.deepEqual(await store.operations.claim(claim, 1_003), { kind: 'fresh' })
  })

  test(`${engine}: operations/1: the first claim of an op_id decides the later ones`, async (t) => {
    const { operations } = await open(t)
    const scope = { kind: 'conflict', code: 'op_id_scope_conflict' } as const
    const payload = { kind: 'conflict', code: 'op_id_payload_conflict' } as const
    t.deepEqual(await operations.claim(CLAIM, 0), { kind: 'fresh' })
    const repeat = { ...CLAIM, messageId: messageId(2), claimedAt: 2_000 }
    t.deepEqual(await operations.claim(repeat, 0), { kind: 'repeat', first: CLAIM, applied: false })

    const other = { ...repeat, contentHash: 'b'.repeat(64) }
    t.deepEqual(await operations.claim(other, 0), payload)
    t.deepEqual(await operations.claim({ ...repeat, channelId: channel(2) }, 0), scope)
    t.deepEqual(await operations.claim({ ...repeat, thingId: 'lamp' }, 0), scope)
    t.deepEqual(await operations.claim({ ...other, thingId: 'lamp' }, 0), scope)
    t.deepEqual(await operations.claim({ ...other, opId: opId('ORDER-1') }, 0), { kind: 'fresh' })
  })

  test(`${engine}: a repeat says whether the first was applied`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    await store.operations.claim(CLAIM, 0)
    await writer.take(message({ opId: 'order-1', claims: true })).commit()
    t.deepEqual(await store.operations.claim(CLAIM, 0), {
      kind: 'repeat',
      first: CLAIM,
      applied: true,
    })
  })

  test(`${engine}: operations/1: an op_id that the gateway made cannot be claimed`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    await writer.take(thing('update', 'lamp', { opId: 'order-1', acceptedAt: 900 })).commit()
    t.deepEqual(await store.operations.claim(CLAIM, 0), {
      kind: 'conflict',
      code: 'op_id_scope_conflict',
    })
    t.deepEqual(await store.operations.claim(CLAIM, 901), { kind: 'fresh' })
  })

  test(`${engine}: operations/1: an op_id that is on its way cannot be claimed, and its claim is compared`, async (t) => {
    const { operations } = await open(t)
    const scope = { kind: 'conflict', code: 'op_id_scope_conflict' } as const
    t.deepEqual(await operations.claim(CLAIM, 0, true), scope)
    t.deepEqual(await operations.claim(CLAIM, 0, false), { kind: 'fresh' })
    const repeat = { ...CLAIM, messageId: messageId(2) }
    t.deepEqual(await operations.claim(repeat, 0, true), {
      kind: 'repeat',
      first: CLAIM,
      applied: false,
    })
  })

  test(`${engine}: operations/3: an expired claim is made anew without its operation`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    await store.operations.claim(CLAIM, 0)
    await writer.take(message({ opId: 'order-1', claims: true, acceptedAt: 1_001 })).commit()
    const anew = { ...CLAIM, contentHash: 'c'.repeat(64), claimedAt: 9_000 }
    t.is((await store.operations.claim(anew, 1_000)).kind, 'conflict')
    t.deepEqual(await store.operations.claim(anew, 1_001), { kind: 'fresh' })
    t.is(await store.operations.find(CLAIM.opId), undefined)
    t.deepEqual(await store.operations.claim(anew, 1_001), {
      kind: 'repeat',
      first: anew,
      applied: false,
    })
  })

  test(`${engine}: one of many claims of an op_id at once is fresh`, async (t) => {
    const { operations } = await open(t)
    const outcomes = await Promise.all(
      Array.from({ length: 600 }, (_, index) =>
        operations.claim({ ...CLAIM, opId: opId(`order-${index % 300}`) }, 0),
      ),
    )
    t.is(outcomes.filter(({ kind }) => kind === 'fresh').length, 300)
    t.is(outcomes.filter(({ kind }) => kind === 'repeat').length, 300)
  })
}
