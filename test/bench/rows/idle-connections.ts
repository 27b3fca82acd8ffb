// Devices over WSS that do nothing: what each takes of memory and CPU, beside bare WebSockets.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { ALLOCATOR } from '#src/process/node-settings'
import { spread } from '#test/bench/load/statistics'
import { Caller, textOf } from '#test/bench/rig/caller'
import { makeCertificate } from '#test/bench/rig/certificate'
import { databaseIn, newToken, startGateway, startProduct } from '#test/bench/rig/gateway'
import { IdleDevices } from '#test/bench/rig/load-process'
import { cpuSecondsOf, residentMbOf } from '#test/bench/rig/processes'
import { startServer } from '#test/bench/rig/server'
import type { Server } from '#test/bench/rig/server'
import type { Figure, Row } from './row.ts'
import type { Session } from './session.ts'

const DEVICES = 4_000
/** Figures are of so many; fewer are connected, as the limits of open files allow. */
const SCALE = 10_000 / DEVICES
const SETTLE_MS = 10_000
/** A thread gives back what it does not need within a minute. */
const GIVE_BACK_MS = 60_000
/** Each device has one heartbeat in this time. */
const WATCH_MS = 25_000
/** Registrations under way. */
const AT_ONCE = 16

const MEMORY = {
  row: 'idle-connections',
  unit: 'MB per 10,000',
  goal: { kind: 'ratio-at-most', must: 2, aim: 1.6 },
} as const
const CPU = {
  row: 'idle-connections.cpu',
  unit: 'µs/s per device',
  goal: { kind: 'at-most', must: 3, aim: 1 },
} as const

interface Taken {
  readonly megabytes: number
  readonly cpuMicrosPerSecond: number
}

export const IDLE_CONNECTIONS_ROW: Row = {
  name: 'idle-connections',
  async measure(session) {
    const product: Taken[] = []
    const bare: Taken[] = []
    for await (const directory of session.directories('idle-connections')) {
      // Both at once: they are idle, and what other programs take they take from both.
      const [below, taken] = await Promise.all([
        takenByBare(session, join(directory, 'bare')),
        takenByProduct(session, join(directory, 'product')),
      ])
      bare.push(below)
      product.push(taken)
    }
    return figuresOf(product, bare)
  },
}

function figuresOf(product: readonly Taken[], bare: readonly Taken[]): readonly Figure[] {
  const memoryOf = (taken: readonly Taken[]) => taken.map(({ megabytes }) => megabytes)
  const cpuOf = (taken: readonly Taken[]) =>
    taken.map(({ cpuMicrosPerSecond }) => cpuMicrosPerSecond)
  const below = memoryOf(bare)
  const ratios = memoryOf(product).map((megabytes, run) => megabytes / (below[run] ?? Number.NaN))
  const details = { devices: DEVICES, heartbeatsWatched: 1, bareCpu: cpuOf(bare) }
  return [
    {
      ...MEMORY,
      value: spread(memoryOf(product)),
      denominator: { id: 'D8', value: spread(below), ratio: spread(ratios) },
      details,
    },
    { ...CPU, value: spread(cpuOf(product)), details },
  ]
}

async function takenByBare(session: Session, directory: string): Promise<Taken> {
  const script = fileURLToPath(new URL('../denominators/bare-websockets.ts', import.meta.url))
  // A gateway starts itself with this allocator; with another one, what is free after the start takes
  // the first thousand connections.
  const server = await startServer(script, { ...ALLOCATOR, ...(await certificateIn(directory)) })
  const silent = Array.from({ length: DEVICES }, () => null)
  return measure(session, { name: 'D8', server, hellos: silent })
}

async function takenByProduct(session: Session, directory: string): Promise<Taken> {
  const token = newToken()
  const plain = await startGateway(directory, token)
  const hellos: string[] = []
  const caller = new Caller(plain, token)
  while (hellos.length < DEVICES) {
    const made = Array.from({ length: AT_ONCE }, async () => {
      const device = await caller.post('/device/register', { platform: 'linux' })
      const [type, device_key] = ['hello', textOf(device, 'device_key')]
      return JSON.stringify({ type, device_key, cursors: {}, gateway_token: token })
    })
    hellos.push(...(await Promise.all(made)))
  }
  await plain.stop()
  const server = await startProduct({
    ...(await certificateIn(directory)),
    SERVICE_DATABASE_URL: `sqlite:${databaseIn(directory)}`,
    SERVICE_TOKEN: token,
  })
  return measure(session, { name: 'gateway', server, hellos })
}

interface Listening {
  readonly name: string
  readonly server: Server
  readonly hellos: readonly (string | null)[]
}

async function measure(session: Session, { name, server, hellos }: Listening): Promise<Taken> {
  const devices = new IdleDevices()
  try {
    await passing(SETTLE_MS)
    const alone = await cpuShareOf(server)
    const before = residentMbOf(server.pid)
    await devices.connect({ port: server.port, hellos })
    await passing(GIVE_BACK_MS)
    const share = (await cpuShareOf(server)) - alone
    const megabytes = (residentMbOf(server.pid) - before) * SCALE
    const cpuMicrosPerSecond = (share * 1e6) / DEVICES
    session.options.say(
      `  ${name}: ${megabytes.toFixed(0)} MB per 10,000, ${cpuMicrosPerSecond.toFixed(1)} µs/s each`,
    )
    return { megabytes, cpuMicrosPerSecond }
  } finally {
    await devices.stop()
    await server.stop()
  }
}

/** CPU seconds a second, all threads. */
async function cpuShareOf({ pid }: Server): Promise<number> {
  const before = cpuSecondsOf(pid)
  await passing(WATCH_MS)
  return (cpuSecondsOf(pid) - before) / (WATCH_MS / 1_000)
}

const passing = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** The settings that name the files of a certificate in a folder. */
async function certificateIn(directory: string): Promise<Readonly<Record<string, string>>> {
  const { certFile, keyFile } = await makeCertificate(directory)
  return { SERVICE_HTTP_TLS_CERT: certFile, SERVICE_HTTP_TLS_KEY: keyFile }
}
