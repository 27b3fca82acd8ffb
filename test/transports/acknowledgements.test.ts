// Method: a store whose writes end when the test ends them.

import test from 'ava'

import type { Acknowledgement } from '#domain/feed'
import { parseDeviceId } from '#domain/identity'
import { Acknowledgements } from '#src/transports/acknowledgements'
import { FakeLogger } from '#test/support/fake-telemetry'
import { channel } from '#test/support/session-words'
import { until } from '#test/support/until'

const deviceId = parseDeviceId('a'.repeat(64)) ?? neverDevice()

function neverDevice(): never {
  throw new Error('no device id')
}

const ack = (letter: string, seq: number): Acknowledgement => ({
  deviceId,
  channelId: channel(letter),
  seq,
})

function rig(waitingMax: number) {
  const writes: { readonly rows: readonly Acknowledgement[]; readonly end: () => void }[] = []
  const subscriptions = {
    acknowledge: (rows: readonly Acknowledgement[]) =>
      new Promise<void>((resolve) => {
        writes.push({ rows, end: resolve })
      }),
  }
  const logger = new FakeLogger()
  return {
    writes,
    logger,
    acknowledgements: new Acknowledgements({ subscriptions, logger }, waitingMax),
  }
}

test('acknowledgement-writer/1: one write runs at a time, and later positions wait', async (t) => {
  const { writes, acknowledgements } = rig(10)
  acknowledgements.record(ack('A', 1))
  const first = acknowledgements.flush()
  acknowledgements.record(ack('A', 2))
  void acknowledgements.flush()
  t.is(writes.length, 1)
  writes[0]?.end()
  await first
  const rest = acknowledgements.flushAll()
  await until('the second write begins', () => writes.length === 2)
  writes[1]?.end()
  await rest
  t.deepEqual(
    writes.map(({ rows }) => rows.map(({ seq }) => seq)),
    [[1], [2]],
  )
})

test('acknowledgement-writer/2: a failed write does not replace a later position', async (t) => {
  const rows: number[] = []
  let isFailing = true
  const subscriptions = {
    acknowledge: async ([first]: readonly Acknowledgement[]) => {
      await Promise.resolve()
      if (isFailing) throw new Error('down')
      rows.push(first?.seq ?? 0)
    },
  }
  const logger = new FakeLogger()
  const acknowledgements = new Acknowledgements({ subscriptions, logger }, 10)
  acknowledgements.record(ack('A', 1))
  const failing = acknowledgements.flush()
  acknowledgements.record(ack('A', 5))
  await failing
  isFailing = false
  await acknowledgements.flush()
  t.deepEqual(rows, [5])
})

test('acknowledgement-writer/3: record drops new positions beyond the bound, and known ones still move', (t) => {
  const { acknowledgements } = rig(1)
  acknowledgements.record(ack('A', 1))
  acknowledgements.record(ack('B', 1))
  acknowledgements.record(ack('A', 2))
  t.is(acknowledgements.waiting, 1)
})

test('an older position never replaces a newer one', async (t) => {
  const { writes, acknowledgements } = rig(10)
  acknowledgements.record(ack('A', 5))
  acknowledgements.record(ack('A', 3))
  void acknowledgements.flush()
  t.deepEqual(writes[0]?.rows, [ack('A', 5)])
})

test('a position that moves during the write of another batch stays', async (t) => {
  const { writes, acknowledgements } = rig(1_000)
  const of = (device: number, seq: number): Acknowledgement => ({
    ...ack('A', seq),
    deviceId: parseDeviceId(device.toString(16).padStart(64, '0')) ?? neverDevice(),
  })
  for (let device = 0; device <= 500; device += 1) acknowledgements.record(of(device, 1))
  const flushed = acknowledgements.flush()
  acknowledgements.record(of(500, 2))
  writes[0]?.end()
  await until('the second batch is written', () => writes.length === 2)
  writes[1]?.end()
  await flushed
  t.deepEqual(writes[1]?.rows, [of(500, 2)])
  t.is(acknowledgements.waiting, 0)
})
