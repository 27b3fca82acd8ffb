// Sessions over real sockets.

import type { ExecutionContext } from 'ava'

import { createHash } from 'node:crypto'
import { App, us_socket_local_port } from 'uWebSockets.js'
import type { TemplatedApp } from 'uWebSockets.js'

import { parseDeviceId } from '#domain/identity'
import { createSessions } from '#src/transports/sessions'
import type { Sessions } from '#src/transports/sessions'
import { ConnectionLimits } from '#src/doors/connection-limits'
import type { SlotBounds } from '#domain/bounds/slots'
import { createWssListener } from '#src/transports/carriers/wss'
import type { WssPorts } from '#src/transports/carriers/wss'
import { admissionFor } from '#test/support/admission'
import { FakeBus } from '#test/support/fake-bus'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { FakeTime } from '#test/support/fake-timers'
import { FeedModel } from '#test/support/feed-model'
import { realRuntime } from '#test/support/real-runtime'
import { KEY, channel } from '#test/support/session-words'

const A = channel('A')

/** The stored name of the device with a key. */
export const deviceOf = (key: string) =>
  parseDeviceId(createHash('sha256').update(key).digest('hex'))
const device = deviceOf(KEY)

/** A WebSocket endpoint with a store in memory, on a port that the system chose. */
export interface Served {
  readonly port: number
  readonly baseUrl: string
  readonly url: string
  readonly bus: FakeBus
  readonly model: FeedModel
  readonly meter: FakeMeter
  /** The time of the server. */
  readonly time: FakeTime
  readonly sessions: Sessions
}

/** The ports of an endpoint without an ingress. */
export const ENDPOINT: Omit<WssPorts, 'host' | 'open' | 'limits'> = {
  clientAddress: (source) => source.socketAddress(),
  refuseUpgrade: ({ code }) => ({ statusLine: '400 Bad Request', headers: [], body: code }),
  upgraded: () => undefined,
}

/** Sessions over a store in memory, in which the device of `KEY` is subscribed to channel A. */
export interface ModelSessions {
  readonly sessions: Sessions
  readonly bus: FakeBus
  readonly model: FeedModel
  readonly meter: FakeMeter
  /** The time of the server. */
  readonly time: FakeTime
}

/** They end with the test. */
export function modelSessions(t: ExecutionContext, token = ''): ModelSessions {
  const bus = new FakeBus()
  const model = new FeedModel()
  const meter = new FakeMeter()
  const time = new FakeTime(1_000_000)
  if (device !== undefined) model.subscribe(device, A)
  const sessions = createSessions(
    {
      bus,
      admission: admissionFor(token),
      devices: model,
      subscriptions: model,
      feed: model,
      meter,
      logger: new FakeLogger(),
      nowMs: time.nowMs,
      monotonicMs: time.monotonicMs,
      timers: time,
      random: () => 0,
      entropy: realRuntime.entropy,
      soon: setImmediate,
    },
    { lanes: 1 },
  )
  t.teardown(() => sessions.close())
  return { sessions, bus, model, meter, time }
}

/** Limits that no test reaches. */
export const MANY: SlotBounds = { total: 1_000, perAddress: 1_000 }

/** Serves the device of `KEY`, which is subscribed to channel A. It ends with the test. */
export async function serveWss(
  t: ExecutionContext,
  token = '',
  limits: SlotBounds = MANY,
): Promise<Served> {
  const { sessions, bus, model, meter, time } = modelSessions(t, token)
  const app = App()
  const port = await createWssListener({
    ...ENDPOINT,
    host: { mount: (apply) => apply(app), listen: () => listen(app) },
    open: (carrier) => sessions.open(carrier),
    limits: new ConnectionLimits('wss', limits, meter),
  }).listen()
  t.teardown(() => app.close())
  return {
    port,
    baseUrl: `http://127.0.0.1:${port}`,
    time,
    url: `ws://127.0.0.1:${port}/private/ws`,
    bus,
    model,
    meter,
    sessions,
  }
}

/** Listens on a port that the system chooses, and gives it. */
export function listen(app: TemplatedApp): Promise<number> {
  return new Promise<number>((resolve, reject) => {
    app.listen('127.0.0.1', 0, (socket) => {
      if (socket === false) reject(new Error('no port'))
      else resolve(us_socket_local_port(socket))
    })
  })
}
