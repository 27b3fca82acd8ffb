// Goal: heartbeats come evenly, however many devices connect at once.
// Method: many sessions over carriers in memory, time that the test turns, and a count of the pings
// of each stretch of time.

import test from 'ava'

import { HEARTBEAT_MS } from '#src/transports/signals'
import { seeded } from '#test/support/random'
import { A, FakeCarrier, Rig, deviceIdOf } from '#test/support/sessions-rig'

const DEVICES = 10_000
const OPENED_WITHIN_MS = 1_000
const STEP_MS = 100
/** Standard deviations beyond the average number of pings in a stretch that are still chance. */
const DEVIATIONS = 5

class Pinged extends FakeCarrier {
  static pings = 0

  override send(texts: readonly string[]): number {
    for (const text of texts) {
      if (!text.includes('"type":"ping"')) continue
      Pinged.pings += 1
      this.say({ type: 'pong' })
    }
    return 0
  }
}

async function crowd(rig: Rig): Promise<void> {
  for (let device = 0; device < DEVICES; device += 1) {
    const key = device.toString(16).padStart(32, '0')
    rig.store.subscribe(deviceIdOf(key), A)
    rig.open(new Pinged()).hello({ device_key: key })
    if (device % (DEVICES / 10) !== 0) continue
    await rig.rest()
    rig.time.advance(OPENED_WITHIN_MS / 10)
  }
  for (let rests = 0; rig.gauge('session_reads_waiting') > 0; rests += 1) {
    if (rests > DEVICES) throw new Error('reads wait for ever')
    await rig.rest()
  }
}

/** The pings of each STEP_MS of one interval. */
function pingsOf(rig: Rig): readonly number[] {
  return Array.from({ length: HEARTBEAT_MS / STEP_MS }, () => {
    const before = Pinged.pings
    rig.time.advance(STEP_MS)
    return Pinged.pings - before
  })
}

const most = (mean: number): number => mean + DEVIATIONS * Math.sqrt(mean)
const least = (mean: number): number => mean - DEVIATIONS * Math.sqrt(mean)

test.serial(
  'ten thousand sessions that open in a second get pings evenly over the interval',
  async (t) => {
    const rig = new Rig({ random: seeded(1) })
    t.teardown(() => rig.sessions.close())
    await crowd(rig)
    pingsOf(rig)
    for (let interval = 0; interval < 2; interval += 1) {
      const pings = pingsOf(rig)
      const mean = (DEVICES * STEP_MS) / HEARTBEAT_MS
      t.true(Math.max(...pings) <= most(mean), `ticks/1: ${Math.max(...pings)} in ${STEP_MS} ms`)
      const perSecond = 1_000 / STEP_MS
      for (let from = 0; from < pings.length; from += perSecond) {
        const count = pings.slice(from, from + perSecond).reduce((sum, one) => sum + one, 0)
        const expected = mean * perSecond
        t.true(count >= least(expected) && count <= most(expected), `session/4: ${count}`)
      }
    }
  },
)

test.serial('session/4: after a delay of the process, pings are spread as before', async (t) => {
  const rig = new Rig({ random: seeded(2) })
  t.teardown(() => rig.sessions.close())
  await crowd(rig)
  pingsOf(rig)
  rig.time.hold(HEARTBEAT_MS / 2)
  pingsOf(rig)
  const pings = pingsOf(rig)
  t.true(Math.max(...pings) <= most((DEVICES * STEP_MS) / HEARTBEAT_MS))
})
