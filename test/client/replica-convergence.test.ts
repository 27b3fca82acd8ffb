// Goal: whatever connections, readers, programs and the bus do, every device ends with the
// gateway's own Things, and no Message is missing or handed twice to one program.
// Method: a whole gateway in this thread, devices of the SDK on connections in memory, random steps
// of a fixed seed; time is turned by hand. Then everything works again, and both sides are compared.

import test from 'ava'
import * as fc from 'fast-check'

import type { Bus } from '#domain/ports'
import { HandTurnedRuntime } from '#test/support/hand-turned-runtime'
import { ReplicaWorld } from '#test/support/replica-world'
import type { ThingChange } from '#test/support/replica-world'
import { ShakyBus } from '#test/support/shaky-bus'
import { startSoleGateway } from '#test/support/sole-gateway'

const RUNS = 40
const STEPS_MAX = 40

const at = fc.nat(1)
const change: fc.Arbitrary<ThingChange> = fc.record({
  action: fc.constantFrom('update', 'update', 'update', 'update', 'archive', 'delete'),
  key: fc.constantFrom('a', 'b'),
  value: fc.option(fc.nat(99), { freq: 4 }),
})

type Act = (world: ReplicaWorld) => Promise<void> | void

const steps: readonly (readonly [weight: number, name: string, act: fc.Arbitrary<Act>])[] = [
  [
    8,
    'message',
    fc.tuple(at, fc.constantFrom(1, 1, 20_000)).map(
      ([channel, bytes]): Act =>
        (world) =>
          world.message(world.channelAt(channel), bytes),
    ),
  ],
  [
    12,
    'thing',
    fc.tuple(at, fc.nat(3), change).map(
      ([channel, id, patch]): Act =>
        (world) =>
          world.thing(world.channelAt(channel), `t${id}`, patch),
    ),
  ],
  [
    2,
    'burst',
    fc
      .tuple(at, fc.integer({ min: 50, max: 300 }))
      .map(([channel, count]): Act => async (world) => {
        const channelId = world.channelAt(channel)
        const all = Array.from({ length: count }, () => world.message(channelId, 1))
        await Promise.all(all)
      }),
  ],
  [
    4,
    'cut',
    fc
      .tuple(at, fc.constantFrom('both', 'device', 'gateway', 'nobody'), fc.boolean())
      .map(([device, noticed, isDown]): Act => (world) => {
        const { line } = world.deviceAt(device)
        line.isDown = isDown
        line.cut(noticed)
      }),
  ],
  [
    3,
    'read',
    fc.tuple(at, fc.boolean(), fc.nat(20)).map(([device, isSlow, count]): Act => (world) => {
      const { line } = world.deviceAt(device)
      line.isSlow = isSlow
      line.read(isSlow ? count : Infinity)
    }),
  ],
  [
    2,
    'crash',
    at.map(
      (device): Act =>
        (world) =>
          world.crash(device),
    ),
  ],
  [
    3,
    'bus',
    fc.constantFrom('pass', 'lose', 'hold').map(
      (mode): Act =>
        (world) =>
          world.disturb(mode),
    ),
  ],
  [
    6,
    'pass',
    fc.constantFrom(10, 250, 1_000, 40_000).map(
      (ms): Act =>
        (world) =>
          world.pass(ms),
    ),
  ],
]

const step = fc.oneof(
  ...steps.map(([weight, name, act]) => ({
    weight,
    arbitrary: act.map((run) => Object.assign(run, { toString: () => name })),
  })),
)

test('replica/1: every device ends with the state of the gateway, and no Message is missing', async (t) => {
  const runtime = new HandTurnedRuntime(1_800_000_000_000)
  const buses: ShakyBus[] = []
  const busOf = (bus: Bus): Bus => {
    const shaky = new ShakyBus(bus)
    buses.push(shaky)
    return shaky
  }
  const gateway = await startSoleGateway(t, runtime, { busOf })
  const [bus] = buses
  if (bus === undefined) return t.fail('no bus')
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: STEPS_MAX }), async (acts) => {
      const world = new ReplicaWorld(gateway, bus)
      await world.begin()
      for (const act of acts) await act(world)
      const missing = await world.settle()
      await world.end()
      if (missing.length > 0) throw new Error(missing.join('\n'))
    }),
    { seed: 16, numRuns: RUNS, endOnFailure: true },
  )
  t.pass()
})
