// Goal: every lane has an owner even after the bucket of lanes was rolled back. (refused-leases/1)
// Method: members refuse a lease as a database does: when its epoch is lower than the known one.

import { jetstreamManager } from '@nats-io/jetstream'
import type { ExecutionContext } from 'ava'

import type { Lease } from '#domain/lane'
import { KvLeases } from '#src/stream/jetstream/leases'
import { LANES } from '#test/contracts/leases-contract'
import { until } from '#test/support/gateway'
import { connectNode, only, testsWithNats } from '#test/support/nats'

const testWithNats = testsWithNats()
const NAME = 'ROLLED'
const STREAM = `KV_${NAME}_LANES`

interface Member {
  held: readonly Lease[]
  leave(): Promise<void>
}

async function join(
  t: ExecutionContext,
  { url, epochs, name }: { url: string; epochs: Map<number, number>; name: string },
): Promise<Member> {
  const node = await connectNode(t, url, name)
  const epochFloor = (): Promise<number> => Promise.resolve(Math.max(0, ...epochs.values()))
  const ports = { ...node, epochFloor }
  const leases = new KvLeases(ports, { lanes: LANES, nodeName: name, name: NAME, replicas: 1 })
  const member: Member = { held: [], leave: () => Promise.resolve() }
  const stop = await leases.watch((held) => {
    member.held = held
    for (const lease of held) {
      if (lease.epoch < (epochs.get(lease.lane) ?? 0)) leases.fenced(lease)
      else epochs.set(lease.lane, lease.epoch)
    }
  })
  let leaving: Promise<void> | undefined
  member.leave = () => (leaving ??= stop())
  t.teardown(() => member.leave())
  return member
}

async function operator(t: ExecutionContext, url: string) {
  const { connection } = await connectNode(t, url, 'operator')
  const { streams } = await jetstreamManager(connection.nats, { checkAPI: false })
  return { connection, streams }
}

const share = (one: Member, two: Member): Promise<unknown> =>
  until(
    () => Promise.resolve([one, two]),
    (all) => all.every(({ held }) => held.length === LANES / 2),
  )

/** Joins two nodes, each of which gets half of the lanes. */
async function joinTwo(t: ExecutionContext, url: string) {
  const epochs = new Map<number, number>()
  const one = await join(t, { url, epochs, name: 'one' })
  const two = await join(t, { url, epochs, name: 'two' })
  await share(one, two)
  return { one, two }
}

const holdsAll = (one: Member): Promise<unknown> =>
  until(
    () => Promise.resolve(one.held),
    (held) => held.length === LANES,
  )

testWithNats(
  'refused-leases/1: a node raises the epochs after the bucket of lanes was rolled back',
  async (t, servers) => {
    const { url } = only(servers)
    const epochs = new Map<number, number>()
    const applied = (...members: readonly Member[]): Promise<unknown> =>
      until(
        () => Promise.resolve(members.flatMap(({ held }) => held)),
        (held) =>
          held.length === LANES && held.every(({ lane, epoch }) => epochs.get(lane) === epoch),
      )
    const one = await join(t, { url, epochs, name: 'one' })
    const two = await join(t, { url, epochs, name: 'two' })
    await applied(one, two)
    const { streams, connection } = await operator(t, url)
    const { config, state } = await streams.info(STREAM)
    const copy: (readonly [subject: string, text: string])[] = []
    for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
      const stored = await streams.getMessage(STREAM, { seq }).catch(() => null)
      if (stored !== null) copy.push([stored.subject, stored.string()])
    }
    t.true(copy.length > LANES)
    await two.leave()
    await applied(one)
    const rejoined = await join(t, { url, epochs, name: 'two' })
    await applied(one, rejoined)
    const before = Math.max(...epochs.values())

    await streams.delete(STREAM)
    await streams.add(config)
    for (const [subject, text] of copy) await connection.nats.request(subject, text)
    await until(
      () => Promise.resolve(epochs),
      (known) => Math.min(...known.values()) > before,
    )
    await applied(one, rejoined)
  },
)

testWithNats(
  'leases/4: a node takes lanes even after the bucket lost the entries of their keys',
  async (t, servers) => {
    const { url } = only(servers)
    const { one, two } = await joinTwo(t, url)
    const { streams } = await operator(t, url)
    for (const { lane } of two.held) {
      const last_by_subj = `$KV.${NAME}_LANES.lane.${lane}`
      const stored = await streams.getMessage(STREAM, { last_by_subj })
      t.true(await streams.deleteMessage(STREAM, stored?.seq ?? 0))
    }
    await two.leave()
    await holdsAll(one)
  },
)

testWithNats(
  'refused-leases/1: a node that takes the lanes of another one raises no epochs',
  async (t, servers) => {
    const { url } = only(servers)
    const { one, two } = await joinTwo(t, url)
    const { streams } = await operator(t, url)
    const base = async (): Promise<string | undefined> =>
      (await streams.getMessage(STREAM, { last_by_subj: `$KV.${NAME}_LANES.base` }))?.string()
    const before = await base()
    await two.leave()
    await holdsAll(one)
    t.is(await base(), before)
  },
)
