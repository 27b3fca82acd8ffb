// Method: holders that record their calls; then real sessions over slow carriers.

import test from 'ava'

import { Held } from '#src/transports/held'
import type { Holder } from '#src/transports/held'
import { A, DEVICE, FakeCarrier, Rig, openOther } from '#test/support/sessions-rig'
import { until } from '#test/support/until'

class FakeHolder implements Holder {
  fate = 'stays'
  readonly #held: () => Held

  constructor(held: () => Held) {
    this.#held = held
  }

  leave(): void {
    this.fate = 'leaves'
  }

  cut(): void {
    this.fate = 'cut'
    this.#held().changed(this, 0)
  }
}

function holders(bytesMax: number, count: number) {
  let sentAway = 0
  const held = new Held(bytesMax, () => (sentAway += 1))
  const all = Array.from({ length: count }, () => new FakeHolder(() => held))
  return {
    held,
    hold: (...bytes: readonly number[]): void =>
      bytes.forEach((each, at) => {
        const holder = all[at]
        if (holder !== undefined && holder.fate !== 'cut') held.changed(holder, each)
      }),
    fates: (): string => all.map(({ fate }) => fate).join(' '),
    sentAway: (): number => sentAway,
  }
}

test('held/1: up to three quarters no session leaves; with one byte more the largest do', (t) => {
  const { hold, fates, held, sentAway } = holders(1_000, 4)
  hold(250, 100, 200, 200)
  t.is(fates(), 'stays stays stays stays')
  t.is(held.bytes, 750)
  hold(250, 101, 200, 200)
  // 251 bytes beyond the half: the largest alone is one byte too little.
  t.is(fates(), 'leaves stays leaves stays')
  t.is(sentAway(), 2)
  t.is(held.bytes, 751)
})

test('held/1: beyond the bound leaving sessions are cut, the largest first', (t) => {
  const { hold, fates, held } = holders(1_000, 4)
  hold(300, 100, 351)
  t.is(fates(), 'stays stays leaves stays')
  hold(300, 100, 351, 249)
  t.is(held.bytes, 1_000)
  t.is(fates(), 'stays stays leaves stays')
  hold(300, 100, 351, 250)
  t.is(fates(), 'stays stays cut stays')
  t.is(held.bytes, 650)
})

test('bytes that a holder has sent no longer count', (t) => {
  const { hold, fates, held } = holders(1_000, 2)
  for (let round = 0; round < 5; round += 1) {
    hold(700, 0)
    hold(0, 700)
    hold(0, 0)
  }
  t.is(held.bytes, 0)
  t.is(fates(), 'stays stays')
})

/** A session whose carrier holds everything it is given. */
class SlowCarrier extends FakeCarrier {
  constructor(held: number) {
    super()
    this.held = held
  }
}

test('held/1: the slowest session gets a goaway, then is cut; the others stay', async (t) => {
  const rig = new Rig({ heldBytesMax: 1_000_000 })
  t.teardown(() => rig.sessions.close())
  const slow = await rig.welcomed(new SlowCarrier(0))
  const other = await openOther(rig)
  slow.heard()
  other.heard()
  other.held = 100_000
  slow.held = 700_000
  rig.announce(rig.store.commitMessage(A))
  await until('both are served', () => other.sent.length > 0)
  t.deepEqual(slow.heard(), ['A 1', 'goaway busy 5000'])
  t.deepEqual(other.heard(), ['A 1'])
  t.is(rig.gauge('session_buffered_bytes'), 800_000)
  t.is(rig.meter.total('sessions_sent_away_total'), 1)
  rig.announce(rig.store.commitMessage(A))
  t.deepEqual(slow.heard(), [])
  rig.time.advance(2_000)
  t.is(slow.closedWith, 'cut')
  slow.handle?.closed()
  t.is(other.closedWith, undefined)
  t.is(rig.gauge('session_buffered_bytes'), 100_000)
})

test('a session that ends with few unread bytes closes with its reason', async (t) => {
  for (const [held, ending] of [
    [65_536, '1001 going away'],
    [65_537, 'cut'],
  ] as const) {
    const rig = new Rig()
    t.teardown(() => rig.sessions.close())
    const carrier = await rig.welcomed()
    carrier.held = held
    rig.announce(rig.store.commitMessage(A))
    const drained = rig.sessions.drain()
    rig.time.advance(2_000)
    carrier.handle?.closed()
    await drained
    t.is(carrier.closedWith, ending)
  }
})

test('sessions report a device to the store soon after its session began, then every hour', async (t) => {
  const rig = new Rig()
  t.teardown(() => rig.sessions.close())
  const carrier = await rig.welcomed()
  t.is(rig.store.seenAt.size, 0)
  rig.time.advance(5_000)
  const first = rig.store.seenAt.get(DEVICE)
  t.is(first, rig.time.nowMs())
  for (let seconds = 20; seconds <= 3_580; seconds += 20) {
    carrier.say({ type: 'pong' })
    rig.time.advance(20_000)
  }
  t.is(rig.store.seenAt.get(DEVICE), first)
  carrier.say({ type: 'pong' })
  rig.time.advance(20_000)
  t.is(rig.store.seenAt.get(DEVICE), rig.time.nowMs() - 5_000)
})
