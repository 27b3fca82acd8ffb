// Composes the doors: one for HTTP, and one for each carrier that the settings turn on.

import type { CarrierName } from '#domain/carrier'
import type { Door, Listener } from '#src/doors/door'
import { serveSessions } from '#src/threads/carrier-bridge'
import type { BackendEdge } from './backend.ts'
import type { Config } from '#src/config/config'
import { normaliseAddress, trustedProxyCheck } from '#src/http/client-address'
import type { Ingress } from '#src/ingress/ingress'
import type { MetricsPart } from '#src/telemetry/meter'
import { ConnectionLimits } from '#src/doors/connection-limits'
import { createTcpListener } from '#src/transports/carriers/tcp'
import type { Sessions } from '#src/transports/sessions'
import type { UpgradePorts } from '#src/transports/carriers/upgrade'
import { createWssListener } from '#src/transports/carriers/wss'
import { certificateOf } from './private-certificate.ts'
import { threadSettings } from './threads/contract.ts'
import { startThread } from './threads/start-thread.ts'
import type { Thread } from './threads/start-thread.ts'

interface DoorParts {
  readonly ingress: Ingress
  readonly sessions: Sessions
}

/** A door whose listener is in another thread has metrics of its own. */
type Composed<Part> = Part & { readonly metrics?: () => Promise<readonly MetricsPart[]> }
type Make = (config: Config, edge: BackendEdge, parts: DoorParts) => Composed<Listener>

const MAKE: Readonly<Record<CarrierName, Make>> = {
  wss: (config, edge, { ingress, sessions }) =>
    createWssListener({
      ...webSocketsOf(ingress),
      open: (carrier) => sessions.open(carrier),
      limits: limitsOf('wss', config, edge),
    }),
  tcp: (config, edge, { sessions }) => {
    const { host, port, isPlain } = config.privateTransports.tcp
    return createTcpListener(
      {
        host,
        port,
        certificate: isPlain ? undefined : certificateOf(config.privateTransports),
        isTrustedProxy: proxyCheckOf(config),
      },
      {
        open: (carrier) => sessions.open(carrier),
        limits: limitsOf('tcp', config, edge),
        runtime: edge.runtime,
      },
    )
  },
  quic: (config, edge, { sessions }) => createQuicThread(config, edge, sessions),
}

/** The door of requests, whose port WSS shares: both may bind it, and it is bound once. */
export const httpDoor = (ingress: Ingress): Door => ({
  name: 'http',
  listen: () => ingress.listen(),
  reload: () => ingress.reload(),
  drain: () => ingress.drain(),
  close: async () => ingress.close(),
})

/** The doors of sessions, which drain together; none when the process takes no requests. */
export function composeSessionDoors(
  config: Config,
  edge: BackendEdge,
  parts: DoorParts,
): readonly Composed<Door>[] {
  if (!config.roles.ingress) return []
  const { carriers } = config.privateTransports
  const drain = (): Promise<void> => parts.sessions.drain()
  return carriers.map((carrier) => ({ ...MAKE[carrier](config, edge, parts), drain }))
}

/** The HTTP listener, for carriers over WebSocket. */
export const webSocketsOf = (ingress: Ingress): Omit<UpgradePorts, 'limits'> => ({
  host: { mount: (apply) => ingress.http.mount(apply), listen: () => ingress.listen() },
  clientAddress: ingress.clientAddress,
  refuseUpgrade: ingress.refuseUpgrade,
  upgraded: () => ingress.connections.upgraded(),
})

/** Says which addresses are those of trusted proxies. */
export function proxyCheckOf({ trustedProxies }: Config): (address: string) => boolean {
  const isTrusted = trustedProxyCheck(trustedProxies)
  return (address) => isTrusted(normaliseAddress(address) ?? address)
}

/** The limits of the connections of one carrier. */
export function limitsOf(
  carrier: CarrierName | 'mqtt',
  { privateTransports }: Pick<Config, 'privateTransports'>,
  { meter }: Pick<BackendEdge, 'meter'>,
): ConnectionLimits {
  return new ConnectionLimits(carrier, privateTransports.connections, meter)
}

// The frontend's side of QUIC: a listener whose connections are in a thread of their own.

interface QuicListener extends Listener {
  /** The metrics of its thread. */
  metrics(): Promise<readonly MetricsPart[]>
}

/** `listen` starts the thread, which loads the library. */
function createQuicThread(
  config: Config,
  edge: BackendEdge,
  sessions: Pick<Sessions, 'open'>,
): QuicListener {
  let thread: Thread<'quic'> | undefined
  return {
    name: 'quic',
    listen: async () => {
      thread = await startThread({ name: 'quic', settings: threadSettings(config) }, edge)
      serveSessions(thread.rpc, (carrier) => sessions.open(carrier))
      return thread.services.listener.listen()
    },
    reload: async () => thread?.services.listener.reload(),
    close: async () => thread?.stop(),
    metrics: async () => (thread === undefined ? [] : [await thread.services.control.metrics()]),
  }
}
