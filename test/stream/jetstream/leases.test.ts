import type { ExecutionContext } from 'ava'

import type { Lease } from '#domain/lane'
import { realRuntime } from '#test/support/real-runtime'
import { KvLeases, LEASE_MS } from '#src/stream/jetstream/leases'
import { LANES, holds, joined } from '#test/contracts/leases-contract'
import type { Meeting, Member } from '#test/contracts/leases-contract'
import { until } from '#test/support/gateway'
import { connectNode, freeze, only, testsWithNats } from '#test/support/nats'
import type { Node } from '#test/support/nats'

const testWithNats = testsWithNats()
let meetings = 0

interface KvMeeting extends Meeting {
  readonly nodes: Map<string, Node>
}

/** A clock that the test sets, so that no node misses a deadline on a busy machine. */
interface SettableClock {
  monotonicMs: () => number
}

function meetingAt(
  t: ExecutionContext,
  url: string,
  clock: SettableClock = { ...realRuntime },
): KvMeeting {
  meetings += 1
  const name = `LEASES${meetings}`
  const epochs = { last: 0 }
  const nodes = new Map<string, Node>()
  const time = { ...realRuntime, monotonicMs: () => clock.monotonicMs() }
  return {
    epochs,
    nodes,
    join: async (nodeName) => {
      const node = await connectNode(t, url, nodeName, time)
      nodes.set(nodeName, node)
      const epochFloor = (): Promise<number> => Promise.resolve(epochs.last)
      return new KvLeases({ ...node, epochFloor }, { lanes: LANES, nodeName, name, replicas: 1 })
    },
  }
}

const lanesOf = (members: readonly Member[]): readonly number[] =>
  members.flatMap(({ held }) => held.map(({ lane }) => lane)).toSorted((a, b) => a - b)

const ALL = [...Array.from({ length: LANES }).keys()]

const spread = (members: readonly Member[], share: number): Promise<unknown> =>
  until(
    () => Promise.resolve(members),
    (all) => lanesOf(all).length === LANES && all.every(({ held }) => held.length <= share),
  )

/** Two nodes, each with half of the lanes. */
async function twoSharing(t: ExecutionContext, meeting: KvMeeting): Promise<[Member, Member]> {
  const one = await joined(t, meeting, 'one')
  const two = await joined(t, meeting, 'two')
  await spread([one, two], LANES / 2)
  return [one, two]
}

/** Waits `count` rounds of 10 ms, in which all nodes send heartbeats and apply plans. */
function rounds(count: number): Promise<unknown> {
  let passed = 0
  return until(
    () => Promise.resolve(),
    () => (passed += 1) > count,
  )
}

testWithNats('three nodes share the lanes, and each lane has one owner', async (t, servers) => {
  const meeting = meetingAt(t, only(servers).url)
  const members = [
    await joined(t, meeting, 'one'),
    await joined(t, meeting, 'two'),
    await joined(t, meeting, 'three'),
  ]
  await spread(members, 6)
  t.deepEqual(lanesOf(members), ALL)
  t.true(members.every(({ held }) => held.length >= 4))
})

testWithNats(
  'a lane gets a greater epoch with each owner, after the previous owner has released it',
  async (t, servers) => {
    const meeting = meetingAt(t, only(servers).url)
    const owners = new Map<number, string>()
    const epochs = new Map<number, number>()
    const overlaps: Lease[] = []
    const follow = (name: string) => (held: readonly Lease[]) => {
      for (const [lane, owner] of owners) if (owner === name) owners.delete(lane)
      for (const lease of held) {
        if (owners.has(lease.lane) || lease.epoch < (epochs.get(lease.lane) ?? 0))
          overlaps.push(lease)
        owners.set(lease.lane, name)
        epochs.set(lease.lane, lease.epoch)
      }
    }
    for (const name of ['one', 'two', 'three']) {
      const leave = await (await meeting.join(name)).watch(follow(name))
      t.teardown(leave)
      await until(
        () => Promise.resolve(owners),
        (all) => new Set(all.values()).has(name) && all.size === LANES,
      )
    }
    t.deepEqual(overlaps, [])
  },
)

testWithNats(
  'a node takes the lanes of another one at once when that leaves',
  async (t, servers) => {
    // The clock stands still, so that no node ever counts as dead.
    const meeting = meetingAt(t, only(servers).url, { monotonicMs: () => 0 })
    const [one, two] = await twoSharing(t, meeting)
    await two.leave()
    await holds(one, LANES)
    t.deepEqual(lanesOf([one, two]), ALL)
  },
)

testWithNats(
  'a node takes the lanes of a dead one, and not before that counts as dead',
  async (t, servers) => {
    const meeting = meetingAt(t, only(servers).url)
    const [one] = await twoSharing(t, meeting)
    const startMs = performance.now()
    // As after a kill, the connection ends and no heartbeat follows.
    await meeting.nodes.get('two')?.connection.nats.close()
    await holds(one, LANES)
    const tookMs = performance.now() - startMs
    t.log(`taken after ${Math.round(tookMs)} ms`)
    t.true(tookMs > 1000, 'the other node waits for a late one')
    for (const [index, held] of one.told.entries()) {
      t.notDeepEqual(held, one.told[index + 1], 'leases/3: every list differs from the one before')
    }
  },
)

testWithNats(
  'leases/1: a node that cannot renew holds nothing before others may treat it as dead',
  async (t, servers) => {
    const server = only(servers)
    const clock: SettableClock = { monotonicMs: () => 0 }
    const meeting = meetingAt(t, server.url, clock)
    const one = await joined(t, meeting, 'one')
    await holds(one, LANES)
    const epochs = one.held.map(({ epoch }) => epoch)
    const frozen = await freeze(t, server)
    clock.monotonicMs = () => LEASE_MS - 1
    await rounds(20)
    t.is(one.held.length, LANES)
    clock.monotonicMs = () => LEASE_MS
    await holds(one, 0)
    await frozen.go()
    clock.monotonicMs = realRuntime.monotonicMs
    await holds(one, LANES)
    t.true(one.held.every(({ epoch }, index) => epoch >= (epochs[index] ?? 0)))
    const facts = meeting.nodes.get('one')?.logger.lines.map(({ fact }) => fact) ?? []
    t.true(facts.includes('leases lost: no heartbeat was stored in time'))
  },
)

testWithNats(
  'lease-buckets/1: a node recreates lost buckets with greater epochs',
  async (t, servers) => {
    const meeting = meetingAt(t, only(servers).url)
    const one = await joined(t, meeting, 'one')
    await holds(one, LANES)
    const last = meeting.epochs.last
    const bucket = `LEASES${meetings}`
    const { connection } = await connectNode(t, only(servers).url, 'operator')
    for (const name of [`KV_${bucket}_NODES`, `KV_${bucket}_LANES`]) {
      await connection.nats.request(`$JS.API.STREAM.DELETE.${name}`)
    }
    await holds(one, 0)
    await holds(one, LANES)
    t.true(one.held.every(({ epoch }) => epoch > last))
  },
)

testWithNats(
  'lease-buckets/1: a node recreates the bucket of lanes when only that is lost',
  async (t, servers) => {
    const meeting = meetingAt(t, only(servers).url)
    const [one, two] = await twoSharing(t, meeting)
    const last = meeting.epochs.last
    const { connection } = await connectNode(t, only(servers).url, 'operator')
    await connection.nats.request(`$JS.API.STREAM.DELETE.KV_LEASES${meetings}_LANES`)
    await two.leave()
    await holds(one, LANES)
    t.true(one.held.every(({ epoch }) => epoch > last))
  },
)

testWithNats(
  'leases/2: a node releases a lane only after its actors have stopped',
  async (t, servers) => {
    const meeting = meetingAt(t, only(servers).url)
    const stopped = Promise.withResolvers<void>()
    const changes: (readonly Lease[])[] = []
    const leave = await (
      await meeting.join('one')
    ).watch((held) => {
      changes.push(held)
      return held.length === 8 ? stopped.promise : undefined
    })
    t.teardown(leave)
    const two = await joined(t, meeting, 'two')
    await until(
      () => Promise.resolve(changes),
      (lists) => lists.at(-1)?.length === 8,
    )
    await rounds(20)
    t.is(two.held.length, 0)
    stopped.resolve()
    await holds(two, 8)
  },
)
