// Goal: what is held for clients that do not read is bounded in bytes and in time, and whoever
// reads slowly stays.

import test from 'ava'

import { HELD_MAX, HELD_PAUSE, HELD_TOTAL_MAX, TAKES_WITHIN_MS } from '#src/mqtt/bounds'
import { Writing } from '#src/mqtt/writing'
import type { Writer } from '#src/mqtt/writing'
import { Held } from '#src/transports/held'
import { FakeTime } from '#test/support/fake-timers'
import { MqttClient } from '#test/support/mqtt-client'
import { mqttRig } from '#test/support/mqtt-rig'
import type { MqttRig } from '#test/support/mqtt-rig'
import { turn } from '#test/support/until'

/** A client for which so many bytes are held. */
async function slow({ door }: MqttRig, bytes: number, clientId = 'slow'): Promise<MqttClient> {
  const client = await MqttClient.enter(door, {}, { clientId, keepalive: 0 })
  client.unread = bytes
  client.tell({ cmd: 'pingreq' })
  await client.next('pingresp')
  await turn()
  return client
}

const endedOf = ({ meter }: MqttRig, reason: string): number =>
  meter.total(`sessions_ended_total{mqtt,${reason}}`)

const heldOf = ({ meter }: MqttRig): number => meter.gauges.get('mqtt_held_bytes')?.() ?? -1

/** A writer whose carrier holds all that it gets, and tells only when it has sent everything. */
function allOrNothing() {
  const time = new FakeTime(0)
  const heard: unknown[] = []
  let carrierBytes = 0
  const writer: Writer = {
    carrier: { send: ({ length }) => (carrierBytes += length) },
    holds: () => undefined,
    unread: () => heard.push('unread'),
    closed: () => heard.push('closed'),
    failed: () => heard.push('failed'),
    leave: () => heard.push('leave'),
    cut: () => heard.push('cut'),
  }
  const runtime = { after: time.after, soon: (task: () => void) => task() }
  const writing = new Writing(writer, { runtime, held: new Held(HELD_TOTAL_MAX, () => undefined) })
  const takeAll = (): void => {
    carrierBytes = 0
    writing.drained(0)
  }
  return { writing, time, heard, carrierBytes: () => carrierBytes, takeAll }
}

test('writing/3: a carrier that tells only of everything shows that its client reads, too', (t) => {
  const { writing, time, heard, carrierBytes, takeAll } = allOrNothing()
  const packet = Buffer.alloc(HELD_PAUSE / 4)
  for (let count = 0; count < HELD_MAX / packet.length; count += 1) writing.add(packet)
  let parts = 0
  for (; carrierBytes() > 0; parts += 1) {
    t.true(carrierBytes() <= 2 * HELD_PAUSE)
    time.advance(TAKES_WITHIN_MS - 1)
    takeAll()
  }
  t.true(parts >= HELD_MAX / (2 * HELD_PAUSE))
  t.deepEqual(heard, [])
  t.false(writing.isSlow)
  t.is(time.waiting, 0)
})

/** Bytes that are left after so many milliseconds each, and whether the client is ended then. */
const READERS: readonly (readonly [
  name: string,
  held: number,
  reads: readonly (readonly [afterMs: number, left: number])[],
  isEnded: boolean,
])[] = [
  ['takes nothing', HELD_MAX, [[TAKES_WITHIN_MS, HELD_MAX]], true],
  ['takes nothing, and its time is not over', HELD_MAX, [[TAKES_WITHIN_MS - 1, HELD_MAX]], false],
  ['may leave so much unread', HELD_PAUSE, [[10 * TAKES_WITHIN_MS, HELD_PAUSE]], false],
  [
    'takes a byte each time',
    HELD_MAX,
    [1, 2, 3].map((taken) => [TAKES_WITHIN_MS - 1, HELD_MAX - taken] as const),
    false,
  ],
  [
    'takes a byte and then nothing',
    HELD_MAX,
    [
      [TAKES_WITHIN_MS - 1, HELD_MAX - 1],
      [TAKES_WITHIN_MS, HELD_MAX - 1],
    ],
    true,
  ],
  [
    'gets more and takes nothing',
    HELD_PAUSE + 1,
    [
      [TAKES_WITHIN_MS - 1, HELD_PAUSE + 2],
      [1, HELD_PAUSE + 2],
    ],
    true,
  ],
  [
    'takes all and is slow again',
    HELD_MAX,
    [
      [TAKES_WITHIN_MS - 1, 0],
      [2, HELD_MAX],
    ],
    false,
  ],
]

for (const [name, held, reads, isEnded] of READERS) {
  test(`writing/3: a client that ${name} is ${isEnded ? 'ended' : 'kept'}`, async (t) => {
    const rig = await mqttRig(t)
    const client = await slow(rig, held)
    for (const [afterMs, left] of reads) {
      rig.time.advance(afterMs)
      client.read(left)
    }
    t.is(client.isClosed, isEnded)
    t.is(endedOf(rig, 'unread'), isEnded ? 1 : 0)
    t.is(heldOf(rig), isEnded ? 0 : (reads.at(-1)?.[1] ?? 0))
  })
}

test('writing/2: a client for which too much is held is cut, at the bound it is not', async (t) => {
  const rig = await mqttRig(t)
  const [at, beyond] = [await slow(rig, HELD_MAX, 'at'), await slow(rig, HELD_MAX + 1, 'beyond')]
  t.deepEqual([at.isCut, beyond.isCut], [false, true])
  t.is(heldOf(rig), HELD_MAX)
})

test('writing/2: many clients that do not read are sent away, the largest first, and no other', async (t) => {
  const rig = await mqttRig(t)
  const small = await slow(rig, HELD_PAUSE, 'small')
  const clients: MqttClient[] = []
  for (let at = 0; at < (2 * HELD_TOTAL_MAX) / HELD_MAX; at += 1) {
    clients.push(await slow(rig, HELD_MAX, `${at}`))
    t.true(heldOf(rig) <= HELD_TOTAL_MAX)
  }
  t.true(clients.some(({ isCut }) => isCut))
  t.is(endedOf(rig, 'busy'), clients.filter(({ isClosed }) => isClosed).length)
  t.false(small.isClosed)
  for (const client of [small, ...clients]) client.vanish()
  t.is(heldOf(rig), 0)
})

test('writing/2: what is held for a client that leaves is not kept until it is read', async (t) => {
  const rig = await mqttRig(t)
  const [slowOne, other] = [
    await slow(rig, HELD_PAUSE + 1, 'one'),
    await slow(rig, HELD_PAUSE, 'other'),
  ]
  rig.door.close()
  t.deepEqual([slowOne.isCut, other.isCut], [true, false])
})
