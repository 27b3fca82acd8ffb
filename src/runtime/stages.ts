// Composes the stages between the listeners and the backend: acceptance, the acceptor in front of
// the log, the sessions behind the bus. They have no sockets, so that a test can run them without.

import type { Backend, BackendEdge } from './backend.ts'
import type { Config } from '#src/config/config'
import { createAcceptance } from '#src/acceptance/acceptance'
import type { Acceptance, AcceptanceOptions } from '#src/acceptance/acceptance'
import type { Derive } from '#src/acceptance/password-work'
import { sessionAdmission } from '#src/acceptance/devices/device-identity'
import type { Bridge } from '#src/mqtt/bridge/bridge'
import { tokenProblemIn } from '#src/providers/providers'
import { Acceptor } from '#src/stream/acceptor'
import { createSessions } from '#src/transports/sessions'
import type { Sessions } from '#src/transports/sessions'

/** Shared by all lanes; each lane has room for several batches. */
const IN_FLIGHT_BYTES_MAX = 128 * 2 ** 20
const LANE_BYTES_MIN = 2 ** 20
const CHANNEL_IN_FLIGHT_MAX = 4096
/**
 * Submissions of one channel between its batch and its effect: others of the lane wait behind them,
 * some 6 ms. Alone a channel may fill a turn, and a few may go before it is known how far its rules
 * reach.
 */
const CHANNEL_SHARE = { shareMax: 256, aloneMax: 1_024, unknownMax: 4 }
/** Some 500,000 submissions. */
const UNAPPLIED_BYTES_MAX = 128 * 2 ** 20

type StageConfig = Pick<Config, 'lanes' | 'providers'> & AcceptanceOptions
export type StageEdge = Pick<BackendEdge, 'logger' | 'meter' | 'runtime'> & {
  /** Derives keys from passwords; absent for scrypt. */
  readonly derive?: Derive
}

/** The stages of the frontend's thread without their listeners. */
export interface Stages {
  readonly acceptor: Acceptor
  readonly acceptance: Acceptance
  readonly sessions: Sessions
}

/**
 * Joins the stages with the backend. `callers` gives the number of connections, each of which may
 * have a request in progress.
 */
export function composeStages(
  config: StageConfig,
  edge: StageEdge,
  { backend, callers }: { readonly backend: Backend; readonly callers: () => number },
): Stages {
  const { logger, meter, runtime, derive } = edge
  const { bus, stores } = backend
  const acceptor = composeAcceptor(config, edge, { backend, callers })
  const tokenProblem = tokenProblemIn(config.providers)
  const shared = { ...stores, ...runtime, bus, meter, logger, timers: runtime }
  const acceptance = createAcceptance({ ...shared, sink: acceptor, tokenProblem, derive }, config)
  const admission = sessionAdmission(acceptance.callerCheck)
  const sessions = createSessions(
    { ...shared, admission, feed: stores.read },
    { lanes: config.lanes },
  )
  backend.onLoss(() => {
    acceptance.recheck()
    sessions.recheck()
  })
  return { acceptor, acceptance, sessions }
}

/** The acceptor in front of the backend's log. */
function composeAcceptor(
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
      channelShare: CHANNEL_SHARE,
      unappliedBytesMax: UNAPPLIED_BYTES_MAX,
    },
  )
  backend.answerFor(acceptor)
  return acceptor
}

/**
 * The bridge, which is not started; undefined when no broker is set up. Its parts and libraries are
 * loaded when it is. Of a cluster one process has it at a time.
 */
export async function composeBridge(
  { bridge: settings, roles }: Pick<Config, 'bridge' | 'roles'>,
  { logger, meter, runtime }: StageEdge,
  {
    submissions,
    access,
    mappings,
    presentation,
    backend: { alone, stores },
  }: Pick<Acceptance, 'submissions' | 'access' | 'mappings' | 'presentation'> & {
    readonly backend: Pick<Backend, 'alone' | 'stores'>
  },
): Promise<Bridge | undefined> {
  if (settings === undefined || !roles.ingress) return undefined
  const [{ Bridge }, { connectBroker: connect }] = await Promise.all([
    import('#src/mqtt/bridge/bridge'),
    import('#src/mqtt/bridge/broker'),
  ])
  const { mqttSessions } = stores
  const stages = { submissions, access, mappings, presentation, alone, mqttSessions }
  return new Bridge({ ...stages, connect, runtime, meter, logger }, settings)
}
