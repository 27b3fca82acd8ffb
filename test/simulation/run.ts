// Runs one seed: a world that fails, heals, comes to rest, and is judged.

import type { ChannelId, DeviceId } from '#domain/identity'
import type { OperationBatchRow, OperationRow } from '#src/store/entities/operations'
import { openStore } from '#src/store/store'
import type { Store } from '#src/store/store'
import { operationsIn } from '#src/store/turns/operation-batches'
import { FakeMeter } from '#test/support/fake-telemetry'
import { seeded } from '#test/support/random'
import { deviceIdOf } from './device.ts'
import { countedIn, judgeTiers } from './judge-tiers.ts'
import { judge, tokenOf } from './judge.ts'
import { judgeRest, watchBounds } from './judge-bounds.ts'
import { ENDED } from './judge-sent.ts'
import type { Entry, Final } from './judge.ts'
import type { Broken, ReceiverView } from './observations.ts'
import { acknowledgeAll, SNOOZE_MS } from './people.ts'
import { loadSchema } from './schema.ts'
import { SETS_CLOCKS, swarmOf } from './swarm.ts'
import type { Swarm } from './swarm.ts'
import { EPOCH_MS, VirtualRuntime } from './virtual-runtime.ts'
import { World } from './world.ts'

export interface RunOptions {
  readonly seed: number
  /** Virtual minutes in which anything may fail. */
  readonly minutes: number
  /** By the seed when absent. */
  readonly isCluster?: boolean | undefined
  readonly swarm?: Swarm
  readonly trace?: (line: string) => void
}

export interface Ran {
  readonly hash: string
  readonly events: number
  readonly accepted: number
  readonly broken: readonly Broken[]
}

const BEGIN_MS_MAX = 60_000
/** A healthy gateway has come to rest by then: the longest timers take a minute. */
const REST_MS_MAX = 180_000
const POLL_MS = 1_000
/** So long after the last push that was new another one may come. */
const PUSHED_MS = 5_000
/** Rules see silence by then. */
const SILENT_MS = 15_000
/** Snoozes have ended by then. */
const SNOOZED_MS = SNOOZE_MS + SILENT_MS
/** Milliseconds after which no process opens by a password that was replaced. */
const PASSWORD_MS = 70_000
const PAGE = 500

export async function runSeed(options: RunOptions): Promise<Ran> {
  const { seed, minutes, trace } = options
  const chance = seeded(seed ^ 0x5eed)
  const isDrawn = chance(4) > 0
  const isCluster = options.isCluster ?? isDrawn
  const swarm = options.swarm ?? swarmOf(chance, isCluster)
  const tables = await loadSchema()
  const world = new World({ seed, swarm, tables, trace })
  const { observations } = world
  const onDefect = (error: unknown): void =>
    observations.break('no promise is forgotten', error instanceof Error ? (error.stack ?? '') : '')
  process.on('unhandledRejection', onDefect)
  try {
    if (await world.begin(BEGIN_MS_MAX)) {
      watchBounds(world, world.time.now + minutes * 60_000)
      await world.fail(minutes * 60_000)
      await finish(world)
    } else observations.break('a healthy gateway starts', 'it did not')
    const accepted = observations.sent.filter(({ outcome }) => outcome === 'accepted').length
    const { hash, broken } = observations
    return { hash, accepted, broken, events: world.time.events }
  } finally {
    process.off('unhandledRejection', onDefect)
    world.close()
  }
}

/** Waits for rest, and judges. */
async function finish(world: World): Promise<void> {
  const { time, observations, clients } = world
  const healedMs = time.now
  const reader = await openReader(world)
  const isSnoozed = [...observations.acknowledged.values()].some((one) => one.isSnoozed)
  const waitMs = isSnoozed ? SNOOZED_MS : SILENT_MS
  let final: Final | undefined
  let restless = 'the gateways do not start'
  // A device gets one push after the other, each as slow as the service.
  while (time.now - Math.max(healedMs, world.pushes.newAtMs) < REST_MS_MAX) {
    await time.run(time.now + POLL_MS)
    restless = restlessOutside(world)
    if (restless !== '' || time.now - healedMs < waitMs) continue
    const { writes } = world.database
    const looked = await looking(world, () => look(world, reader))
    restless = restlessIn(world, looked)
    // A look takes time: only one in which nothing was written saw one state.
    if (restless !== '' || world.database.writes > writes) continue
    final = looked
    break
  }
  observations.note(`rest after ${(time.now - healedMs).toFixed(0)}`)
  if (final === undefined) {
    observations.break('a healthy gateway comes to rest', restless)
    final = await looking(world, () => look(world, reader))
  }
  judge(observations, final, {
    devices: world.devices.map(({ device }) => device),
    others: othersOf(world),
  })
  const known = final
  judgeTiers(observations, known, await looking(world, () => countedIn(reader, known)))
  await looking(world, () => acknowledgeAll(observations, clients))
  await judgeRest(world, (look_) => looking(world, look_))
  if (clients.channels.some(({ ended, isDeleted }) => ended.length > 0 || isDeleted)) {
    await time.run(Math.max(time.now, healedMs + PASSWORD_MS))
    await looking(world, () => judgePasswords(world))
  }
}

function othersOf({ pushDevices, pushes, clients }: World): readonly ReceiverView[] {
  const pushed = pushDevices.map(({ key, token }) => ({
    name: token,
    deviceId: deviceIdOf(key),
    got: pushes.arrived.get(token) ?? new Set(),
    sentence: 'every push is sent at least once',
  }))
  const sentence = 'every kept session gets every Message and Event'
  return [
    ...pushed,
    ...clients.mqtt.map(({ name, deviceId, got }) => ({ name, deviceId, got, sentence })),
  ]
}

/** Runs reads of the final state while time passes. */
async function looking<Value>({ time }: World, look_: () => Promise<Value>): Promise<Value> {
  let done: { readonly value: Value } | undefined
  let failure: unknown
  look_().then(
    (value) => (done = { value }),
    (error: unknown) => (failure = error),
  )
  await time.run(time.now + 60_000, () => done !== undefined || failure !== undefined)
  if (done !== undefined) return done.value
  throw failure instanceof Error ? failure : new Error('the final state cannot be read')
}

/** A store over the database of the world, as a process of its own would have it. */
function openReader(world: World): Promise<Store> {
  const { time, database, swarm } = world
  const runtime = new VirtualRuntime(time, { rate: 1, setByMs: 0, stoodAtMs: undefined }, 1)
  const opener = database.openerFor(runtime.owner, { isShared: swarm.isCluster })
  return looking(world, () => openStore({ url: '', opener, meter: new FakeMeter(), runtime }))
}

async function look(world: World, store: Store): Promise<Final> {
  const { clients, devices } = world
  const channels = clients.channels.filter(({ isInDoubt }) => !isInDoubt).map(({ id }) => id)
  const entries: Entry[] = []
  const values = new Map<string, Map<string, Map<string, unknown>>>()
  for (const id of channels) {
    const channelId = id as ChannelId
    for (let afterSeq: number | undefined = 0; afterSeq !== undefined;) {
      const page = await store.read.history({ channelId, afterSeq, limit: PAGE })
      entries.push(...page.items)
      afterSeq = page.next
    }
    const page = await store.read.things({ channelId, limit: PAGE })
    const things = page.items.map(
      ({ id: thing, attrs }) => [thing, new Map(Object.entries(attrs.values))] as const,
    )
    values.set(id, new Map(things))
  }
  const joinedAt = new Map<string, Map<string, number>>()
  const deviceIds = devices.map(({ device }) => device.deviceId)
  const others = othersOf(world).map(({ deviceId }) => deviceId)
  for (const deviceId of [...deviceIds, ...others]) {
    const positions = await store.subscriptions.positions(deviceId as DeviceId)
    joinedAt.set(
      deviceId,
      new Map(positions.map(({ channelId, sinceSeq }) => [channelId, sinceSeq])),
    )
  }
  const ruled = clients.channels.flatMap(({ id, rule }) =>
    rule === undefined ? [] : [{ id, rule }],
  )
  const rules = new Map(ruled.map(({ id, rule }) => [id, rule]))
  return {
    channels,
    entries,
    values,
    rules,
    isRight: [...SETS_CLOCKS].every((name) => world.swarm.perSecond[name] === 0),
    endMs: EPOCH_MS + world.time.now,
    statuses: statusesIn(world),
    joinedAt,
    isUnrecorded: world.machines.some((machine) => machine.hasCounted('mqtt_unrecorded_total')),
  }
}

/**
 * The statuses of all operations: to look for one after the other would read most rows often. What
 * waits in a deleted channel waits for ever, and nobody can ask for it.
 */
function statusesIn({ database }: World): ReadonlyMap<string, string> {
  const rows = database.rows<Pick<OperationRow, 'opId' | 'status'>>(
    `SELECT op_id AS opId, status FROM operations WHERE status <> 'scheduled'
      OR channel_id IN (SELECT channel_id FROM channels WHERE is_deleted = 0)`,
  )
  const batches = database.rows<OperationBatchRow>(
    'SELECT first_op AS firstOp, operations, content FROM operation_batches',
  )
  const whole = batches.flatMap((row) => operationsIn(row))
  return new Map([...whole, ...rows].map(({ opId, status }) => [opId, status]))
}

/** Says what the world outside sees not to be at rest; '' when everything is. */
function restlessOutside(world: World): string {
  if (world.served().length < world.machines.length) return 'a process does not serve'
  if (world.clients.pending + world.senders.pending > 0) return 'a sender waits for an answer'
  const offline = world.devices.find(({ device }) => !device.isOnline)
  if (offline !== undefined) return `${offline.device.name} is not connected`
  if (world.time.now - world.pushes.newAtMs < PUSHED_MS) return 'pushes arrive'
  return world.clients.mqtt.map(({ restless }) => restless).find((said) => said !== '') ?? ''
}

/** Says what is not at rest in the final state; '' when everything is. */
function restlessIn(world: World, { channels, entries, statuses, joinedAt }: Final): string {
  const { devices, clients, observations } = world
  const heads = new Map<string, number>()
  for (const { channelId, seq } of entries) {
    heads.set(channelId, Math.max(heads.get(channelId) ?? 0, seq))
  }
  const applied = new Map(entries.map((entry) => [tokenOf(entry), entry.opId]))
  for (const { token, opId = applied.get(token), outcome, channelId } of observations.sent) {
    if (outcome !== 'accepted' || !channels.includes(channelId)) continue
    if (!statuses.has(opId ?? '')) return `${opId ?? token} has no record`
  }
  for (const { name, deviceId, got } of clients.mqtt) {
    for (const [id, since] of joinedAt.get(deviceId) ?? []) {
      const isMissing = ({ channelId, seq, model, opId }: Entry): boolean =>
        channelId === id && seq > since && model !== 'thing' && !got.has(opId)
      if (channels.includes(id) && entries.some(isMissing)) return `${name} lacks an entry`
    }
  }
  // Also those of submissions whose sender does not know the outcome.
  for (const [opId, status] of statuses) if (!ENDED.has(status)) return `${opId} is ${status}`
  for (const { device } of devices) {
    const joined = joinedAt.get(device.deviceId) ?? new Map<string, number>()
    for (const id of joined.keys()) {
      const head = heads.get(id) ?? 0
      const cursor = device.channels.get(id)?.cursor
      if (channels.includes(id) && (cursor ?? -1) < head)
        return `${device.name} has ${cursor} of ${head} in ${id}`
    }
    for (const id of device.channels.keys())
      if (!joined.has(id)) return `${device.name} is in ${id}`
  }
  return ''
}

/** No process opens a channel by a password that was replaced, or a deleted channel at all. */
async function judgePasswords(world: World): Promise<void> {
  const { clients, observations } = world
  for (const served of world.served()) {
    for (const channel of clients.channels) {
      const { ended, password, isDeleted, isInDoubt } = channel
      const refused = isDeleted ? [...ended, password] : ended
      if (isInDoubt && !isDeleted) continue
      for (const one of refused) {
        const verdict = await clients.tryPassword(served, channel, one)
        if (verdict === 'channel_not_found') continue
        const detail = `${served.name} says ${verdict} to an ended password of ${channel.id}`
        observations.break('a refused credential opens nothing after its time', detail)
      }
    }
  }
}
