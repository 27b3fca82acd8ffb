// An ingress on a free port with fakes behind it, and the ways to talk to it.

import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

import type { ExecutionContext } from 'ava'

import { parseChannelId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import type { Probe } from '#domain/ports'
import { createIngress } from '#src/ingress/ingress'
import type { Ingress, IngressOptions } from '#src/ingress/ingress'
import { createPasswordWork } from '#src/ingress/password-work'
import type { Derive } from '#src/ingress/password-work'
import { FakeBus } from '#test/support/fake-bus'
import { FakeSink } from '#test/support/fake-sink'
import {
  FakeChannels,
  FakeDevices,
  FakeOperations,
  FakeReads,
  FakeSubscriptions,
} from '#test/support/fake-stores'
import { FakeLog, FakeMeter } from '#test/support/fake-telemetry'
import { FakeTime } from '#test/support/fake-timers'
import { CHANNEL, NOW_MS, PASSWORD } from '#test/support/making'
import { realRuntime } from '#test/support/real-runtime'

/** A derivation that costs nothing, with the shape of scrypt's. */
export const quickDerive: Derive = (password, salt) =>
  Promise.resolve(createHash('sha256').update(salt).update(password).digest())

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: Readonly<Record<string, unknown>>
}

export interface Rig {
  readonly ingress: Ingress
  readonly port: number
  readonly url: string
  readonly channelId: ChannelId
  readonly time: FakeTime
  readonly bus: FakeBus
  readonly sink: FakeSink
  readonly channels: FakeChannels
  readonly devices: FakeDevices
  readonly subscriptions: FakeSubscriptions
  readonly reads: FakeReads
  readonly operations: FakeOperations
  readonly meter: FakeMeter
  readonly log: FakeLog
  readonly post: (
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ) => Promise<Answered>
  readonly get: (path: string, headers?: Record<string, string>) => Promise<Answered>
  readonly send: (path: string, init: RequestInit) => Promise<Answered>
  /** A raw connection; what comes back is gathered. */
  readonly connect: () => Raw
}

/** A socket and all that it has received. */
export interface Raw {
  readonly socket: Socket
  readonly received: () => string
  /** Resolves once the received text matches, or the connection ends. */
  until(pattern: RegExp): Promise<string>
  readonly ended: Promise<void>
}

export interface RigOptions extends Partial<IngressOptions> {
  readonly probes?: readonly Probe[]
  readonly derive?: Derive
}

/** The channel CHANNEL with PASSWORD exists. Everything is closed when the test ends. */
export async function startIngress(t: ExecutionContext, options: RigOptions = {}): Promise<Rig> {
  const channels = new FakeChannels()
  const time = new FakeTime(NOW_MS)
  const parts = {
    time,
    bus: new FakeBus(),
    sink: new FakeSink(),
    channels,
    devices: new FakeDevices(),
    subscriptions: new FakeSubscriptions(channels),
    reads: new FakeReads(),
    operations: new FakeOperations(),
    meter: new FakeMeter(),
    log: new FakeLog(),
  }
  const work = createPasswordWork(realRuntime.entropy, options.derive ?? quickDerive)
  const channelId = await addChannel(channels, CHANNEL, PASSWORD)
  const ingress = createIngress(
    {
      ...parts,
      read: parts.reads,
      timers: time,
      nowMs: time.nowMs,
      monotonicMs: time.monotonicMs,
      entropy: realRuntime.entropy,
      probes: options.probes ?? [],
      metricsText: () => Promise.resolve('heliograph_up 1\n'),
      profile: () => ({ private_channel_enabled: true }),
      durability: () => 'embedded: fsync',
      passwordWork: work,
    },
    {
      http: { host: '127.0.0.1', port: 0 },
      tls: undefined,
      token: '',
      trustedProxies: [],
      passwordBudget: { perAddress: 1_000_000, total: 1_000_000 },
      statusRetentionMs: 7 * 86_400_000,
      version: '9.9.9',
      ...options,
    },
  )
  const port = await ingress.listen()
  t.teardown(() => ingress.close())
  return { ...parts, ingress, port, channelId, ...clientOf(t, port) }
}

/** Puts a channel into the store, with a hash that quickDerive makes. */
export async function addChannel(
  channels: FakeChannels,
  id: string,
  password: string,
): Promise<ChannelId> {
  const channelId = parseChannelId(id)
  const passwordHash = await createPasswordWork(realRuntime.entropy, quickDerive).hash(password)
  if (channelId === undefined || typeof passwordHash !== 'string') throw new Error('bad fixture')
  await channels.create({ channelId, channelName: 'a channel', passwordHash, createdAt: NOW_MS })
  return channelId
}

function clientOf(
  t: ExecutionContext,
  port: number,
): Pick<Rig, 'url' | 'send' | 'post' | 'get' | 'connect'> {
  const url = `http://127.0.0.1:${port}`
  const send = async (path: string, init: RequestInit): Promise<Answered> => {
    const response = await fetch(url + path, init)
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: objectOf(text) }
  }
  return {
    url,
    send,
    get: (path, headers = {}) => send(path, { headers }),
    post: (path, body, headers = {}) =>
      send(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    connect: () => rawConnection(t, port),
  }
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  if (!text.startsWith('{')) return {}
  const parsed: unknown = JSON.parse(text)
  return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {}
}

function rawConnection(t: ExecutionContext, port: number): Raw {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  let changed = (): void => {}
  t.teardown(() => socket.destroy())
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    received += text
    changed()
  })
  // A reset is one of the ways a connection ends.
  socket.on('error', () => {})
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  return {
    socket,
    ended,
    received: () => received,
    async until(pattern) {
      const matched = new Promise<void>((resolve) => {
        changed = () => {
          if (pattern.test(received)) resolve()
        }
        changed()
      })
      await Promise.race([matched, ended])
      return received
    },
  }
}
