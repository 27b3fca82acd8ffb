// Composes the doors: one for HTTP, and one for each carrier that the settings turn on.

import type { CarrierName } from '#domain/carrier'
import type { Door, Listener } from '#src/doors/door'
import type { BackendEdge } from './backend.ts'
import type { Config } from '#src/config/config'
import { normaliseAddress, trustedProxyCheck } from '#src/http/client-address'
import type { Ingress } from '#src/ingress/ingress'
import type { MetricsPart } from '#src/telemetry/meter'
import { ConnectionLimits } from '#src/doors/connection-limits'
import { createTcpListener } from '#src/transports/carriers/tcp'
import type { Sessions } from '#src/transports/sessions'
import { createWssListener } from '#src/transports/carriers/wss'
import { certificateOf } from './private-certificate.ts'
import { createQuicThread } from './quic/frontend.ts'

export interface DoorParts {
  readonly ingress: Ingress
  readonly sessions: Sessions
}

/** A door whose listener is in another thread has metrics of its own. */
type Composed<Part> = Part & { readonly metrics?: () => Promise<readonly MetricsPart[]> }
type Make = (config: Config, edge: BackendEdge, parts: DoorParts) => Composed<Listener>

const MAKE: Readonly<Record<CarrierName, Make>> = {
  wss: (config, edge, { ingress, sessions }) =>
    createWssListener({
      host: { mount: (apply) => ingress.http.mount(apply), listen: () => ingress.listen() },
      open: (carrier) => sessions.open(carrier),
      limits: limitsOf('wss', config, edge),
      clientAddress: ingress.clientAddress,
      refuseUpgrade: ingress.refuseUpgrade,
      upgraded: () => ingress.connections.upgraded(),
    }),
  tcp: (config, edge, { sessions }) => {
    const { host, port, isPlain } = config.privateTransports.tcp
    const isTrusted = trustedProxyCheck(config.trustedProxies)
    return createTcpListener(
      {
        host,
        port,
        certificate: isPlain ? undefined : certificateOf(config.privateTransports),
        isTrustedProxy: (address) => isTrusted(normaliseAddress(address) ?? address),
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

function limitsOf(
  carrier: CarrierName,
  { privateTransports }: Pick<Config, 'privateTransports'>,
  { meter }: Pick<BackendEdge, 'meter'>,
): ConnectionLimits {
  return new ConnectionLimits(carrier, privateTransports.connections, meter)
}
