// Method: feed frames, compare calls of handlers and texts; time moves only when a test moves it.

import test from 'ava'

import { Intake } from '#src/client/intake'
import { WEB } from '#src/client/runtime'
import type { ChannelId } from '#domain/identity'
import type { Delivery } from '#src/schemas/frames'
import { encodeDelivery } from '#src/schemas/frames'
import { readDeviceFrame, readGatewayFrame } from '#src/schemas/read-frames'
import { FakeTime } from '#test/support/fake-timers'
import { channel, entry } from '#test/support/session-words'
import { turn } from '#test/support/until'

const A = channel('A')

function rig(onEntry: (seq: number) => void | Promise<void> = () => {}) {
  const time = new FakeTime(0)
  const cursors = new Map<ChannelId, number>()
  const handled: number[] = []
  const acks: number[] = []
  const failures: string[] = []
  const next = () =>
    new Intake({
      handlers: {
        onEntry: async ({ seq }) => {
          await onEntry(seq)
          handled.push(seq)
        },
      },
      runtime: { ...WEB, after: (delayMs, callback) => time.after(delayMs, callback) },
      cursors,
      send: (text) => {
        const frame = readDeviceFrame(text)
        if (frame.kind === 'ack') acks.push(frame.seq)
      },
      handled: () => {},
      store: undefined,
      failed: (reason, error) => failures.push(`${reason}: ${String(error)}`),
    })
  const intake = next()
  return { next, intake, time, cursors, handled, acks, failures }
}

/** A message, or a Thing's present state. */
function delivery(seq: number, model: 'message' | 'thing' = 'message'): Delivery {
  const frame = readGatewayFrame(encodeDelivery(entry('A', seq), 'live'))
  if (frame?.kind !== 'deliver') throw new Error('no delivery')
  return { ...frame, model }
}

test('intake/1: the intake acknowledges handled entries soon, and together', async (t) => {
  const { intake, time, acks, cursors } = rig()
  for (let seq = 1; seq <= 5; seq += 1) intake.take(delivery(seq))
  await turn()
  t.deepEqual(acks, [])
  time.advance(199)
  t.deepEqual(acks, [])
  time.advance(1)
  t.deepEqual(acks, [5])
  t.is(cursors.get(A), 5)
})

test('intake/1: the intake acknowledges 32 entries at once', async (t) => {
  const { intake, acks } = rig()
  for (let seq = 1; seq <= 33; seq += 1) intake.take(delivery(seq))
  await turn()
  t.deepEqual(acks, [32])
})

test('intake/2: after a failed handler the intake handles and acknowledges nothing', async (t) => {
  const { intake, cursors, handled, acks, failures } = rig((seq) => {
    if (seq === 2) throw new Error('not now')
  })
  for (let seq = 1; seq <= 3; seq += 1) intake.take(delivery(seq))
  await turn()
  await intake.end()
  t.deepEqual([handled, acks], [[1], [1]])
  t.deepEqual(failures, ['handler failed: Error: not now'])
  t.is(cursors.get(A), 1)
})

test('intake/4: the intake acknowledges a repeated entry, does not handle it, and moves no cursor back', async (t) => {
  const { intake, cursors, handled, acks } = rig()
  cursors.set(A, 5)
  for (const seq of [3, 5, 6]) intake.take(delivery(seq))
  await turn()
  t.deepEqual(handled, [6])
  t.is(cursors.get(A), 6)
  intake.take(delivery(4))
  await turn()
  t.is(cursors.get(A), 6)
  await intake.end()
  t.deepEqual(handled, [6])
  t.is(acks.length, 1)
})

test('intake/4: an interrupted restart begins again, and the intake handles no Message twice', async (t) => {
  const { intake, cursors, handled, acks, next } = rig()
  cursors.set(A, 5)
  const gap = { kind: 'gap', channelId: A, from: 6, to: 9, reason: 'retention' } as const
  intake.take({ ...gap, restart: true })
  intake.take(delivery(2, 'thing'))
  intake.take(delivery(3, 'message'))
  await turn()
  await intake.end()
  t.deepEqual([handled, acks], [[2], [3]])
  t.is(cursors.get(A), 5, 'so the gateway restarts again')

  const again = next()
  again.take({ ...gap, restart: true })
  for (const frame of [delivery(2, 'thing'), delivery(4, 'thing'), delivery(5), delivery(6)]) {
    again.take(frame)
  }
  await turn()
  await again.end()
  t.deepEqual(handled, [2, 2, 4, 6])
  t.is(cursors.get(A), 6)
})

test('intake/4: a device without a cursor takes the position that a restart names', async (t) => {
  const { intake, cursors, handled } = rig()
  const gap = { kind: 'gap', channelId: A, from: 6, to: 9, reason: 'retention' } as const
  intake.take({ ...gap, restart: true })
  for (const frame of [delivery(2, 'thing'), delivery(5), delivery(7)]) intake.take(frame)
  await turn()
  t.deepEqual(handled, [2, 7])
  t.is(cursors.get(A), 7)
})

test('end waits for the running handler and drops waiting frames', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { intake, handled, acks } = rig(() => promise)
  intake.take(delivery(1))
  intake.take(delivery(2))
  await turn()
  const ended = intake.end()
  resolve()
  await ended
  t.deepEqual([handled, acks], [[1], [1]])
})
