// Submissions that wait because the database refuses the rows of their channel.

import test from 'ava'

import type { ParkedSubmission } from '#domain/parked'
import { operationOf, waitingOperationOf } from '#machines/decide'
import type { OpenStore } from './store-contract.ts'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, message } from '#test/support/submissions'

const parkedOf = (index: number, text: string, number = 1): ParkedSubmission => ({
  channelId: channel(number),
  lane: number,
  position: 7,
  index,
  payload: text,
  error: 'no',
})

const NOTHING = { channels: [], operations: [], deadLetters: [] }

export function parkedContract(engine: string, open: OpenStore): void {
  test(`${engine}: parked submissions wait in their order until a turn applies them`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const { channelId } = writer
    const submissions = ['a', 'b', 'c'].map((id) => message({ opId: id, channelId }))
    const writes = {
      ...NOTHING,
      lanes: [{ lane: 1, epoch: 1, from: 0, to: 5 }],
      operations: submissions.map(waitingOperationOf),
      parked: [...submissions.keys()].map((index) => parkedOf(index, `{"text":"${index} 🔥"}`)),
    }
    t.deepEqual(await store.turns.commit(writes), { kind: 'committed' })
    t.deepEqual(await store.turns.parkedIn(1), new Map([[channelId, 3]]))
    t.deepEqual(await store.turns.parkedIn(2), new Map())
    t.like(await store.parked.readiness(), {
      name: 'channels',
      ready: true,
      detail: 'some are parked: the database refuses their rows',
    })
    const waiting = await store.turns.waitingFor(channelId, 2)
    t.deepEqual(
      waiting.map(({ position, index, payload }) => ({ position, index, payload })),
      [0, 1].map((index) => ({ position: 7, index, payload: `{"text":"${index} 🔥"}` })),
    )
    for (const { opId } of submissions)
      t.is((await store.operations.find(opId))?.status, 'processing')

    const [first, second, third] = submissions
    if (first === undefined || second === undefined || third === undefined) throw new Error()
    const unparked = {
      channelId,
      throughId: waiting.at(-1)?.id ?? 0,
      opIds: [first.opId, second.opId],
    }
    const turn = {
      ...NOTHING,
      lanes: [{ lane: 1, epoch: 1, from: 5, to: 5 }],
      operations: [first, second].map((one) => operationOf(one)),
      unparked,
    }
    t.deepEqual(await store.turns.commit(turn), { kind: 'committed' })
    t.is((await store.operations.find(first.opId))?.status, 'sent')
    t.is((await store.operations.find(third.opId))?.status, 'processing')
    t.deepEqual(await store.turns.parkedIn(1), new Map([[channelId, 1]]))
    const [last] = await store.turns.waitingFor(channelId, 9)
    t.is(last?.index, 2)
  })

  test(`${engine}: W2: a process that lost a lane neither parks nor unparks`, async (t) => {
    const store = await open(t)
    await ChannelWriter.open(store, 1)
    const lanes = [{ lane: 1, epoch: 1, from: 0, to: 5 }]
    await store.turns.commit({ ...NOTHING, lanes, parked: [parkedOf(0, '{}')] })
    await store.turns.takeLane({ lane: 1, epoch: 2 })
    const [waiting] = await store.turns.waitingFor(channel(1), 1)
    const stale = [{ lane: 1, epoch: 1, from: 5, to: 5 }]
    const unparked = { channelId: channel(1), throughId: waiting?.id ?? 0, opIds: [] }
    for (const writes of [{ parked: [parkedOf(1, '{}')] }, { unparked }]) {
      t.like(await store.turns.commit({ ...NOTHING, lanes: stale, ...writes }), { kind: 'fenced' })
    }
    t.deepEqual(await store.turns.parkedIn(1), new Map([[channel(1), 1]]))
  })

  test(`${engine}: readiness says that nothing is parked`, async (t) => {
    const store = await open(t)
    t.deepEqual(await store.parked.readiness(), {
      name: 'channels',
      ready: true,
      detail: 'all are applied',
    })
  })
}
