// Devices that come back: a database with entries that they have missed, and the time from their
// connecting until they have all of them.

import type {
  LoadReport,
  LoadRequest,
  SubscribeTarget,
  SubscriberReport,
} from '#test/bench/load/messages'
import { THING_COUNT } from '#test/bench/load/payload'
import { keyedChannels, keysOf } from './channel-keys.ts'
import { addMessages, addUpdates } from './database.ts'
import { deviceKeysOf } from './device-keys.ts'
import type { NewDevices } from './device-keys.ts'
import { databaseIn, startGateway } from './gateway.ts'
import { prepareKeyed } from './keyed.ts'
import { Generator, Subscribers } from './load-process.ts'
import { cpuSecondsOf } from './processes.ts'
import type { Server } from './server.ts'
import { CountsDiffer } from './rig.ts'

const LIMIT_MS = 60_000
const LOAD_CONNECTIONS = 32

/** Devices, and what each channel gets after they were there last. */
export interface Absence {
  readonly devices: NewDevices
  readonly messages?: number
  /** Updates of the one Thing that each channel has then. */
  readonly updates?: number
}

/** A stopped gateway's folder, whose devices have missed something. */
export interface Missed {
  readonly directory: string
  readonly token: string
  readonly channels: readonly string[]
  readonly deviceKeys: readonly string[]
}

/** Prepares channels, and devices that have missed something of them. */
export async function missed(
  directory: string,
  { devices, messages = 0, updates = 0 }: Absence,
): Promise<Missed> {
  const { name, count, among } = devices
  const things = updates > 0 ? { stored: among } : {}
  const token = await prepareKeyed(directory, { channels: among, devices, ...things })
  const path = databaseIn(directory)
  if (messages > 0) await addMessages(path, messages)
  if (updates > 0) await addUpdates(path, updates)
  const channels = keyedChannels(among).map(({ channelId }) => channelId)
  return { directory, token, channels, deviceKeys: deviceKeysOf(name, count) }
}

/** The figures of devices that caught up. */
export interface Return {
  readonly seconds: number
  readonly entries: number
  /** Updates that were conflated into those entries. */
  readonly conflated: number
  /** The server's, in microseconds an entry. */
  readonly cpuMicrosPerEntry: number
}

/** The figures of a fleet that caught up while requests went on. */
export interface FleetReturn {
  readonly seconds: number
  readonly load: LoadReport
}

/** Connects a fleet under load; resolves once every channel of each device is caught up. */
export async function fleetReturn(
  { port }: Server,
  { token, channels, deviceKeys }: Missed,
  { channelsEach, request }: { readonly channelsEach: number; readonly request: LoadRequest },
): Promise<FleetReturn> {
  const ports = [port]
  const recipe = { token, keys: keysOf(channels.length), thingCount: THING_COUNT }
  const subscribers = new Subscribers()
  const generator = new Generator()
  try {
    await subscribers.request({ kind: 'disconnect' })
    await generator.connect({ ports, connections: LOAD_CONNECTIONS, recipe })
    const loading = generator.load(request)
    const startMs = performance.now()
    const target = { ports, token, deviceKeys }
    await subscribers.request({ kind: 'connect', target })
    const caughtUp = deviceKeys.length * channelsEach
    const order = { kind: 'await', entries: 0, caughtUp, timeoutMs: LIMIT_MS } as const
    const report = await subscribers.request(order)
    const seconds = (performance.now() - startMs) / 1_000
    const load = await loading
    const isWhole = report.caughtUp >= caughtUp && report.closed + report.repeated === 0
    if (isWhole) return { seconds, load }
    throw new CountsDiffer(`a fleet of ${caughtUp} channels saw ${JSON.stringify(report)}`)
  } finally {
    await Promise.all([subscribers.stop(), generator.stop()])
  }
}

/** A server on what was missed, whose devices come back once or several times. */
export async function withReturns<Result>(
  from: Missed,
  work: (comeBack: (expected: number) => Promise<Return>) => Promise<Result>,
): Promise<Result> {
  const { directory, token, channels: replayed, deviceKeys } = from
  const server = await startGateway(directory, token)
  try {
    const target = { ports: [server.port], token, deviceKeys, replayed }
    return await work((expected) => comeBack(server, target, expected))
  } finally {
    await server.stop()
  }
}

/** Connects every device; resolves once they have so many entries, those conflated included. */
async function comeBack(
  server: Server,
  target: SubscribeTarget,
  expected: number,
): Promise<Return> {
  const subscribers = new Subscribers()
  try {
    // Answered once the process has started.
    await subscribers.request({ kind: 'disconnect' })
    const cpuBefore = cpuSecondsOf(server.pid)
    const startMs = performance.now()
    await subscribers.request({ kind: 'connect', target })
    const timeoutMs = LIMIT_MS
    const report = await subscribers.request({ kind: 'await', entries: expected, timeoutMs })
    const seconds = (performance.now() - startMs) / 1_000
    const cpuSeconds = cpuSecondsOf(server.pid) - cpuBefore
    checkCounts(report, expected)
    const { entries, skipped: conflated } = report
    return { seconds, entries, conflated, cpuMicrosPerEntry: (cpuSeconds / entries) * 1e6 }
  } finally {
    await subscribers.stop()
  }
}

function checkCounts(report: SubscriberReport, expected: number): void {
  const { entries, skipped, repeated, gaps, closed } = report
  if (entries + skipped === expected && repeated + gaps + closed === 0) return
  const saw = JSON.stringify({ entries, skipped, repeated, gaps, closed })
  throw new CountsDiffer(`devices missed ${expected} entries and saw ${saw}`)
}
