// The judge of memory: what a process holds stays within its bounds, and every queue is empty in
// the end.

import type { World } from './world.ts'

/** A gauge stays within these: while things fail, and at rest. */
interface Bound {
  readonly most: (world: World) => number
  readonly isEmptyAtRest: boolean
}

const MIB = 2 ** 20
const waiting = (most: number): Bound => ({ most: () => most, isEmptyAtRest: true })
const held = (most: Bound['most']): Bound => ({ most, isEmptyAtRest: false })

const ruled = ({ clients }: World): number =>
  clients.channels.filter(({ rule }) => rule !== undefined).length
/**
 * Things with their watches, the Events that were sent and those that rules opened; each may be
 * remembered, and decided anew by the newest turn.
 */
const entities = ({ swarm, observations }: World): number =>
  2 * (2 * swarm.channels * swarm.things + 2 * observations.sent.length)

/** As the documents for operators have them, or the size of the world where that says less. */
const BOUNDS: ReadonlyMap<string, Bound> = new Map([
  ['lane_in_flight_bytes', waiting(128 * MIB)],
  ['unapplied_submissions', waiting(500_000)],
  ['channel_waiting_submissions', waiting(4_096)],
  ['following_changes', waiting(8_192)],
  ['stream_pending_bytes', waiting(65 * MIB)],
  ['stream_tail_bytes', waiting(65 * MIB)],
  ['lane_lag_submissions', waiting(500_000)],
  ['store_queue', waiting(3 * 12_000)],
  ['page_reads_waiting', waiting(1_000)],
  ['key_lookups_waiting', waiting(1_000)],
  ['password_checks_waiting', waiting(1_000)],
  ['session_buffered_bytes', waiting(256 * MIB)],
  ['sessions_behind', waiting(50_000)],
  ['session_reads_waiting', waiting(50_000)],
  ['acknowledgements_waiting', waiting(2 * 200_000)],
  ['mqtt_in_flight_bytes', waiting(128 * MIB)],
  ['mqtt_unread_connections', waiting(100)],
  ['mqtt_held_bytes', waiting(128 * MIB)],
  ['mqtt_reads_waiting', waiting(50_000)],
  ['mqtt_will_bytes', waiting(64 * MIB)],
  ['push_jobs', waiting(100_000)],
  ['push_held', waiting(1_000)],
  ['push_in_flight', waiting(1_000)],
  ['refused_channels', waiting(10)],
  ['log_bytes', held(() => 1_024 * MIB)],
  ['session_recent_bytes', held(() => 8 * MIB)],
  ['cached_bytes', held(() => 64 * MIB)],
  ['cached_entities', held(entities)],
  ['live_actors', held(({ swarm }) => swarm.channels)],
  ['live_rules', held(ruled)],
  ['compiled_rules', held(ruled)],
  ['leases_held', held(({ swarm }) => swarm.lanes)],
  ['credential_cache_entries', held(({ clients }) => clients.passwords)],
  ['password_budget_addresses', held(({ swarm }) => 2 + swarm.mqttClients + swarm.devices)],
])

const SENTENCE = 'a process holds no more than it may'
const WATCHED_MS = 2_500
/** A mark of a push lasts a minute, and by as much longer as a clock was set back meanwhile. */
const REST_MS_MAX = 180_000

/** Compares what every process holds with its bounds, until a time of the world. */
export function watchBounds(world: World, untilMs: number): void {
  const { time, machines } = world
  const next = (): void => {
    if (time.now >= untilMs) return
    for (const { name, process } of machines) {
      void process?.figures().then((figures) => compare(world, name, figures))
    }
    time.after(WATCHED_MS, next)
  }
  time.after(WATCHED_MS, next)
}

function compare(world: World, name: string, figures: ReadonlyMap<string, number>): void {
  for (const [gauge, value] of figures) {
    const most = BOUNDS.get(gauge)?.most(world)
    if (most === undefined || value <= most) continue
    const detail = `${gauge} of ${name} is ${value}, not ${most} at most`
    world.observations.break(SENTENCE, detail)
  }
}

/** Names what a process still holds though nobody waits for it; '' for nothing. */
function restlessBounds(name: string, figures: ReadonlyMap<string, number>): string {
  for (const [gauge, value] of figures) {
    const isEmpty = value === 0 || BOUNDS.get(gauge)?.isEmptyAtRest !== true
    if (!isEmpty) return `${gauge} of ${name} is ${value}`
  }
  return ''
}

/** Adds a broken sentence when a queue does not become empty, or a lane has not one owner. */
export async function judgeRest(
  world: World,
  looking: <Value>(look: () => Promise<Value>) => Promise<Value>,
): Promise<void> {
  const { time, machines, swarm, observations } = world
  const untilMs = time.now + REST_MS_MAX
  for (;;) {
    const asked = (): Promise<(ReadonlyMap<string, number> | undefined)[]> =>
      Promise.all(machines.map(async ({ process }) => process?.figures()))
    const figures = await looking(asked)
    const restless = machines.map(({ name }, at) => restlessBounds(name, figures[at] ?? new Map()))
    const owned = figures.reduce((sum, of) => sum + (of?.get('leases_held') ?? 0), 0)
    const isOwned = !swarm.isCluster || owned === swarm.lanes
    const [said] = restless.filter((one) => one !== '')
    if (said === undefined && isOwned) return
    if (time.now < untilMs) {
      await time.run(time.now + 1_000)
      continue
    }
    if (said !== undefined) observations.break('every queue is empty at rest', said)
    if (!isOwned) observations.break('every lane has one owner', `${owned} of ${swarm.lanes}`)
    return
  }
}
