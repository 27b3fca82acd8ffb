// The stages between the ways in and the backend: the acceptor in front of the log, the sessions
// behind the bus. No socket here, so that a test can run them without one.

import type { Backend, BackendEdge } from './backend.ts'
import type { Config } from '#src/config/config'
import { Acceptor } from '#src/stream/acceptor'
import { createSessions } from '#src/transports/sessions'
import type { SessionOptions, Sessions } from '#src/transports/sessions'

/** Shared by all lanes; each has room for several batches. */
const IN_FLIGHT_BYTES_MAX = 128 * 2 ** 20
const LANE_BYTES_MIN = 2 ** 20
const CHANNEL_IN_FLIGHT_MAX = 4096
const UNAPPLIED_MAX = 500_000

export type StageConfig = Pick<Config, 'lanes' | 'token'>
export type StageEdge = Pick<BackendEdge, 'log' | 'meter' | 'runtime'>

/**
 * The way into the backend's log. `callers` says how many connections there are that may have a
 * request under way.
 */
export function composeAcceptor(
  { lanes }: StageConfig,
  { meter, runtime }: StageEdge,
  { backend, callers }: { readonly backend: Backend; readonly callers: () => number },
): Acceptor {
  const { log, bus, roundMs } = backend
  const { soon, monotonicMs } = runtime
  const acceptor = new Acceptor(
    { log, bus, meter, soon, timers: runtime, monotonicMs, callers },
    {
      roundMs,
      lanes,
      laneBytesMax: Math.max(LANE_BYTES_MIN, IN_FLIGHT_BYTES_MAX / lanes),
      channelInFlightMax: CHANNEL_IN_FLIGHT_MAX,
      unappliedMax: UNAPPLIED_MAX,
    },
  )
  backend.answerFor(acceptor)
  return acceptor
}

/** The sessions of the devices, over the backend's stores and bus. */
export function composeSessions(
  { token }: StageConfig,
  { log, meter, runtime }: StageEdge,
  { backend, budget }: { readonly backend: Backend } & Pick<SessionOptions, 'budget'>,
): Sessions {
  const { bus, stores } = backend
  const sessions = createSessions(
    { ...stores, ...runtime, feed: stores.read, bus, meter, log, timers: runtime },
    { token, ...(budget !== undefined && { budget }) },
  )
  backend.onLoss(() => sessions.recheck())
  return sessions
}
