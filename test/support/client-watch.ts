// A watch against sessions over real sockets; the time of the client moves only when a test moves
// it.

import type { ExecutionContext } from 'ava'

import { webSocketCarrier } from '#src/client/carrier'
import { WEB } from '#src/client/runtime'
import { watch } from '#src/client/watch'
import type { Watch, WatchOptions, WatchState } from '#src/client/watch'
import type { Delivery } from '#src/schemas/frames'
import { FakeTime } from '#test/support/fake-timers'
import { KEY, channel, letterOf } from '#test/support/session-words'
import { until } from '#test/support/until'
import { deviceOf, serveWss } from '#test/support/wss-server'
import type { Served } from '#test/support/wss-server'

const A = channel('A')

/** A watch, its sessions, and the states that it told. */
export interface Watched {
  readonly server: Served
  readonly time: FakeTime
  readonly watch: Watch
  /** Entries handled, as `A 1`. */
  readonly handled: string[]
  readonly told: string[]
  readonly states: WatchState[]
}

type BeginOptions = Partial<WatchOptions> & {
  readonly gatewayToken?: string
  readonly before?: (server: Served) => void
  readonly report?: (error: unknown) => void
}

const asUncaught = (error: unknown): void => WEB.report(error)

/** Serves sessions and begins to watch; both end with the test. */
export async function begin(
  t: ExecutionContext,
  options: BeginOptions = {},
  urlOf: (url: string) => string = (url) => url,
): Promise<Watched> {
  const { gatewayToken, before, report = asUncaught, ...more } = options
  const server = await serveWss(t, gatewayToken)
  before?.(server)
  const time = new FakeTime(0)
  const handled: string[] = []
  const told: string[] = []
  const states: WatchState[] = []
  const watched = watch({
    carrier: (events) => webSocketCarrier(urlOf(`${server.baseUrl}/`))(events),
    deviceKey: KEY,
    runtime: {
      ...WEB,
      after: (delayMs, callback) => time.after(delayMs, callback),
      random: (below) => Math.floor(below / 2),
      report,
    },
    onEntry: (delivery) => {
      handled.push(nameOf(delivery))
    },
    onGap: ({ from, to }) => {
      told.push(`gap ${from}-${to}`)
    },
    onCaughtUp: (channelId, seq) => {
      told.push(`caught up ${letterOf(channelId)} ${seq}`)
    },
    onChannel: ({ channelId }) => {
      told.push(`channel ${letterOf(channelId)}`)
    },
    onUnsubscribed: (channelId) => {
      told.push(`unsubscribed ${letterOf(channelId)}`)
    },
    onState: (state) => {
      states.push(state)
    },
    ...more,
  })
  t.teardown(() => watched.close())
  return { server, time, watch: watched, handled, told, states }
}

/** An entry as `A 1`. */
export const nameOf = ({ channelId, seq }: Delivery): string => `${letterOf(channelId)} ${seq}`
/** Resolves once a channel has caught up. */
export const caughtUp = ({ told }: Watched): Promise<void> =>
  until('it has caught up', () => told.some((text) => text.startsWith('caught up')))
/** Commits a Message of a channel and announces it. */
export const announce = ({ bus, model }: Pick<Served, 'bus' | 'model'>, channelId = A): void =>
  bus.announce([model.commitMessage(channelId)])
/** The seq up to which the device has acknowledged its first channel. */
export const acked = (server: Served): number | undefined => {
  const id = deviceOf(KEY)
  return id === undefined ? undefined : server.model.positionsNow(id)[0]?.ackedSeq
}

/** Checks that a device gets frames of any size over a carrier, and each entry once. */
export async function everythingArrives(
  t: ExecutionContext,
  server: Pick<Served, 'model' | 'bus'>,
  carrier: NonNullable<WatchOptions['carrier']>,
): Promise<void> {
  const seen: string[] = []
  const device = watch({
    deviceKey: KEY,
    carrier,
    onEntry: (delivery) => void seen.push(nameOf(delivery)),
  })
  t.teardown(() => device.close())
  server.model.commitMessage(A, { title: '☀'.repeat(30_000) })
  for (let count = 1; count <= 300; count += 1) {
    announce(server)
    if (count % 100 === 0) await until('they arrive', () => seen.length === count + 1)
  }
  t.is(new Set(seen).size, 301)
}
