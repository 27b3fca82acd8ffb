// Composes the listeners for devices: one for each carrier that the settings turn on.

import type { CarrierName } from '#domain/carrier'
import type { BackendEdge } from './backend.ts'
import type { Config } from '#src/config/config'
import { normaliseAddress, trustedProxyCheck } from '#src/http/client-address'
import type { Ingress } from '#src/ingress/ingress'
import type { MetricsPart } from '#src/telemetry/meter'
import type { Listener } from '#src/transports/carrier'
import { ConnectionLimits } from '#src/transports/carriers/connection-limits'
import { createTcpListener } from '#src/transports/carriers/tcp'
import type { Sessions } from '#src/transports/sessions'
import { createWssListener } from '#src/transports/carriers/wss'
import { certificateOf } from './private-certificate.ts'
import { createQuicThread } from './quic/frontend.ts'

export interface ListenerParts {
  readonly ingress: Ingress
  readonly sessions: Sessions
}

/** A listener in another thread has its own metrics. */
type Composed = Listener & { readonly metrics?: () => Promise<readonly MetricsPart[]> }
type Make = (config: Config, edge: BackendEdge, parts: ListenerParts) => Composed

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

/** The listeners of a process; none when it takes no requests. */
export function composeListeners(
  config: Config,
  edge: BackendEdge,
  parts: ListenerParts,
): readonly Composed[] {
  if (!config.roles.ingress) return []
  return config.privateTransports.carriers.map((carrier) => MAKE[carrier](config, edge, parts))
}

function limitsOf(
  carrier: CarrierName,
  { privateTransports }: Pick<Config, 'privateTransports'>,
  { meter }: Pick<BackendEdge, 'meter'>,
): ConnectionLimits {
  return new ConnectionLimits(carrier, privateTransports.connections, meter)
}
