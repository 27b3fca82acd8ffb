// Sessions over a store in memory, a bus, and carriers that record their texts. Time moves only
// when a test moves it.

import type { ExecutionContext } from 'ava'

import { createHash } from 'node:crypto'
import { parseDeviceId } from '#domain/identity'
import type { ChannelId, DeviceId } from '#domain/identity'
import type {
  Acknowledgement,
  Announcement,
  CatchUpPage,
  CatchUpRequest,
  Position,
} from '#domain/feed'
import type { SessionAdmission } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import { createSessions } from '#src/transports/sessions'
import type { SessionOptions, Sessions } from '#src/transports/sessions'
import type { Carrier, SessionHandle } from '#src/transports/carrier'
import { admissionFor } from '#test/support/admission'
import { FakeBus } from '#test/support/fake-bus'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { FakeTime } from '#test/support/fake-timers'
import { FeedModel } from '#test/support/feed-model'
import { realRuntime } from '#test/support/real-runtime'
import { channel, inWords } from '#test/support/session-words'
import { turn, until } from '#test/support/until'

export const A = channel('A')

export const B = channel('B')

export const C = channel('C')

/** The number of lanes over which channels are distributed. */
export const LANES = 4

export const KEY = '1'.repeat(32)

export const DEVICE = deviceIdOf(KEY)

export class FakeCarrier implements Carrier {
  writes = 0
  readonly kind = 'wss'
  readonly openingMs = 0
  readonly address = '192.0.2.1'
  readonly authorization: string
  readonly sent: string[] = []
  closedWith: string | undefined
  held = 0
  handle: SessionHandle | undefined

  constructor(authorization = '') {
    this.authorization = authorization
  }

  send(texts: readonly string[]): number | 'closed' {
    if (this.closedWith !== undefined) return 'closed'
    this.writes += 1
    this.sent.push(...texts)
    return this.held
  }

  close(code: number, reason: string): void {
    this.closedWith ??= `${code} ${reason}`
  }

  cut(): void {
    this.closedWith ??= 'cut'
  }

  say(frame: object): void {
    this.handle?.receive(JSON.stringify(frame))
  }

  hello(more: object = {}): void {
    this.say({ type: 'hello', device_key: KEY, ...more })
  }

  /** Gives its texts in words, and forgets them. */
  heard(): readonly string[] {
    return inWords(this.sent.splice(0).map((text) => ({ kind: 'send', text })))
  }
}

/** The model, with hooks for the test. */
export class Store extends FeedModel {
  failure: Error | undefined
  readonly writes: (readonly Acknowledgement[])[] = []
  meanwhile: () => void = () => {}
  /** Awaited once a number was given. */
  numbered: () => Promise<void> = async () => {}
  /** Awaited before acknowledgements are in. */
  written: () => Promise<void> = async () => {}
  reading = 0
  readingMost = 0

  override async numberSession(deviceId: DeviceId): Promise<number | undefined> {
    const number = await super.numberSession(deviceId)
    await this.numbered()
    return number
  }

  override async positions(deviceId: DeviceId): Promise<readonly Position[]> {
    const positions = await super.positions(deviceId)
    this.#mayFail()
    this.meanwhile()
    return positions
  }

  override async catchUp(requests: readonly CatchUpRequest[]): Promise<readonly CatchUpPage[]> {
    this.reading += 1
    this.readingMost = Math.max(this.readingMost, this.reading)
    await turn()
    this.reading -= 1
    this.#mayFail()
    return super.catchUp(requests)
  }

  override async acknowledge(acknowledgements: readonly Acknowledgement[]): Promise<void> {
    this.#mayFail()
    this.writes.push(acknowledgements)
    await this.written()
    await super.acknowledge(acknowledgements)
  }

  #mayFail(): void {
    if (this.failure !== undefined) throw this.failure
  }
}

export interface RigOptions extends Partial<SessionOptions> {
  readonly admission?: SessionAdmission
  readonly random?: Runtime['random']
}

export class Rig {
  readonly bus: FakeBus
  readonly store: Store
  readonly time: FakeTime
  readonly meter = new FakeMeter()
  readonly logger = new FakeLogger()
  readonly sessions: Sessions
  /** Runs tasks at once, unless a test wants to see writes together. */
  soon: (task: () => void) => void = (task) => task()

  /** `beside`: another node of the same cluster, whose clock is `aheadMs` ahead of that one's. */
  constructor(
    { admission = admissionFor(''), random = (below) => below - 1, ...options }: RigOptions = {},
    beside?: Rig,
    aheadMs = 0,
  ) {
    this.bus = beside?.bus ?? new FakeBus()
    this.store = beside?.store ?? new Store()
    this.time = new FakeTime(1_000_000 + aheadMs)
    this.sessions = createSessions(
      {
        bus: this.bus,
        admission,
        devices: this.store,
        subscriptions: this.store,
        feed: this.store,
        meter: this.meter,
        logger: this.logger,
        nowMs: this.time.nowMs,
        monotonicMs: this.time.monotonicMs,
        timers: this.time,
        random,
        entropy: realRuntime.entropy,
        soon: (task) => this.soon(task),
      },
      { lanes: LANES, ...options },
    )
    this.store.subscribe(DEVICE, A)
  }

  open(carrier = new FakeCarrier()): FakeCarrier {
    carrier.handle = this.sessions.open(carrier)
    return carrier
  }

  /** A session behind its welcome. */
  async welcomed(carrier = new FakeCarrier()): Promise<FakeCarrier> {
    this.open(carrier).hello()
    await until('the device is welcomed', () => carrier.sent.length > 0)
    return carrier
  }

  announce(...announcements: readonly Announcement[]): void {
    this.bus.announce(announcements)
  }

  /** The device subscribes to a channel, and the bus says so. */
  subscribe(channelId: ChannelId): void {
    this.store.subscribe(DEVICE, channelId)
    this.bus.notify({ kind: 'subscribed', channelId, deviceId: DEVICE })
  }

  /** The device leaves a channel, and the bus says so. */
  unsubscribe(channelId: ChannelId): void {
    this.store.unsubscribe(DEVICE, channelId)
    this.bus.notify({ kind: 'unsubscribed', channelId, deviceId: DEVICE })
  }

  /** Waits until everything under way is done. */
  async rest(): Promise<void> {
    for (let turns = 0; turns < 20; turns += 1) await turn()
  }

  gauge(name: string): number {
    return this.meter.gauges.get(name)?.() ?? -1
  }
}

export function deviceIdOf(key: string): DeviceId {
  const id = parseDeviceId(createHash('sha256').update(key).digest('hex'))
  if (id === undefined) throw new Error('no device id')
  return id
}

/** The session of a second device, subscribed to A as the first one is. */
export async function openOther(rig: Rig): Promise<FakeCarrier> {
  const key = '2'.repeat(32)
  rig.store.subscribe(deviceIdOf(key), A)
  const other = rig.open()
  other.hello({ device_key: key })
  await until('the other one is welcomed', () => other.sent.length > 0)
  return other
}

export async function welcomedRig(
  t: ExecutionContext,
): Promise<{ rig: Rig; carrier: FakeCarrier }> {
  const rig = new Rig()
  t.teardown(() => rig.sessions.close())
  const carrier = await rig.welcomed()
  t.deepEqual(carrier.heard(), ['welcome A 0/0', 'caught up A 0'])
  return { rig, carrier }
}
