// Goal: wills that wait are bounded in bytes and in work, whatever they say.

import test from 'ava'

import { fault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { DeviceId } from '#domain/identity'
import type { OpenChannel } from '#src/acceptance/channel-access'
import type { Wish } from '#src/mqtt/devices/publish'
import { WILLS_BYTES_MAX, WILLS_CHANNEL_BYTES_MAX, WILL_BYTES, Wills } from '#src/mqtt/wills'
import { FakeMeter } from '#test/support/fake-telemetry'
import { FakeTime } from '#test/support/fake-timers'
import { channel } from '#test/support/session-words'
import { rounds, turn } from '#test/support/until'

/** Wills without a door: each that is published, or submitted by what it was read as. */
function willsAlone(isOpen: (open: OpenChannel) => boolean = () => true) {
  const time = new FakeTime(0)
  const meter = new FakeMeter()
  const heard: string[] = []
  const asked: OpenChannel[] = []
  const refusalSince = async (open: OpenChannel): Promise<Fault | undefined> => {
    asked.push(open)
    return isOpen(open) ? undefined : fault('channel_not_found')
  }
  const wills = new Wills({ access: { refusalSince }, runtime: time, meter })
  /** The client's `reads` are the bytes of what its will becomes. */
  const take = (name: string, open: OpenChannel, { reads = 0, delayMs = 10 } = {}): void => {
    const wishes = [
      { intent: { model: 'thing', action: 'update' }, fields: { of: 'x'.repeat(reads) } },
    ]
    const heir = { submit: () => void heard.push(`submitted ${name}`) }
    const publisher = {
      publish: () => void heard.push(`published ${name}`),
      close: () => undefined,
      bequest: () => Promise.resolve({ wishes: wishes as readonly Wish[], heir }),
    }
    const will = { ...WILL, delayMs }
    wills.take(name as DeviceId, {
      will,
      publisher,
      open,
      password: 'a password',
      keptMs: Infinity,
    })
  }
  const gauge = (name: string): number => meter.gauges.get(name)?.() ?? -1
  return { wills, take, time, heard, asked, gauge }
}

const WILL = {
  topic: 'things/a',
  payload: new Uint8Array(),
  qos: 0,
  packetId: 0,
  isRepeat: false,
  opId: undefined,
  expirySeconds: undefined,
} as const

const channelOf = (name: string): OpenChannel => ({ channelId: channel(name) })

/** What a will is read as, in bytes, and channels of which each has a client in its turn. */
const FULL = [
  ['of a channel', ['A'], WILLS_CHANNEL_BYTES_MAX],
  ['in all', ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'], WILLS_BYTES_MAX],
] as const

for (const [whose, names, bytesMax] of FULL) {
  test(`wills/2: what waits ${whose} is bounded in bytes; beyond, a will is published at once`, async (t) => {
    const { take, time, heard, gauge } = willsAlone()
    const reads = 64 * 1_024
    const goOn = rounds(20_000)
    let clients = 0
    for (; heard.length === 0 && goOn(); clients += 1) {
      take(`${clients}`, channelOf(names[clients % names.length] ?? ''), { reads })
      await turn()
      t.true(gauge('mqtt_will_bytes') <= bytesMax)
    }
    t.deepEqual(heard, [`published ${clients - 1}`])
    t.true(gauge('mqtt_will_bytes') > bytesMax - 2 * (reads + WILL_BYTES))
    t.is(gauge('mqtt_wills_waiting'), clients - 1)
    time.advance(10)
    await turn()
    t.is(heard.filter((line) => line.startsWith('submitted')).length, clients - 1)
    t.deepEqual([gauge('mqtt_wills_waiting'), gauge('mqtt_will_bytes')], [0, 0])
  })
}

test('wills/2: small wills are bounded too, by what each takes beside its words', async (t) => {
  const { take, heard, gauge } = willsAlone()
  const goOn = rounds(20_000)
  let clients = 0
  for (; heard.length === 0 && goOn(); clients += 1) take(`${clients}`, channelOf('A'))
  t.true(clients <= WILLS_CHANNEL_BYTES_MAX / WILL_BYTES + 1)
  await turn()
  t.true(gauge('mqtt_will_bytes') <= WILLS_CHANNEL_BYTES_MAX)
})

test('wills/3: the store is asked once for all wills of a password or key, and none is dropped while that opens', async (t) => {
  const { wills, take, asked, gauge } = willsAlone(() => true)
  const open = channelOf('A')
  for (let at = 0; at < 100; at += 1) take(`${at}`, open)
  take('of another channel', channelOf('B'))
  wills.prove(channel('A'))
  await turn()
  t.is(asked.length, 1)
  t.is(gauge('mqtt_wills_waiting'), 101)
})
