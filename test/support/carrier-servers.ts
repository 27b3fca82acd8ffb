// Every carrier over sessions with a store in memory, in this thread, on a port that the system
// chose.

import { readFileSync } from 'node:fs'

import type { ExecutionContext } from 'ava'

import type { CarrierName } from '#domain/carrier'
import type { Listener } from '#src/doors/door'
import type { Carrier } from '#src/transports/carrier'
import { ConnectionLimits } from '#src/doors/connection-limits'
import type { SlotBounds } from '#domain/bounds/slots'
import { createQuicListener } from '#src/transports/carriers/quic/listener'
import { createTcpListener } from '#src/transports/carriers/tcp'
import type { TcpOptions } from '#src/transports/carriers/tcp'
import type { Certificate } from './certificate.ts'
import { quicPeer, tcpPeer, wssPeer } from './framed-client.ts'
import type { Peer } from './framed-client.ts'
import { realRuntime } from './real-runtime.ts'
import { MANY, modelSessions, serveWss } from './wss-server.ts'
import type { ModelSessions } from './wss-server.ts'

export interface CarrierServer extends ModelSessions {
  readonly port: number
  readonly listener: Listener
  /** The peers with which sessions were opened. */
  readonly carriers: readonly Carrier[]
}

export interface ServeOptions extends Partial<TcpOptions> {
  readonly limits?: SlotBounds
  readonly token?: string
}

type Files = Pick<Certificate, 'certFile' | 'keyFile'>

/** Reads the files each time. */
export const certificateIn =
  ({ certFile, keyFile }: Files) =>
  () => ({ cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') })

/** TCP, without TLS unless the options have a certificate. */
export const serveTcp = (t: ExecutionContext, options: ServeOptions = {}): Promise<CarrierServer> =>
  serve(t, 'tcp', options, (ports) =>
    createTcpListener(
      {
        host: '127.0.0.1',
        port: 0,
        certificate: undefined,
        isTrustedProxy: () => false,
        ...options,
      },
      ports,
    ),
  )

export const serveQuic = (
  t: ExecutionContext,
  files: Files,
  options: ServeOptions = {},
): Promise<CarrierServer> =>
  serve(t, 'quic', options, (ports) =>
    createQuicListener(
      {
        host: options.host ?? '127.0.0.1',
        port: options.port ?? 0,
        certificate: options.certificate ?? certificateIn(files),
      },
      ports,
    ),
  )

type Ports = Parameters<typeof createQuicListener>[1]

async function serve(
  t: ExecutionContext,
  kind: CarrierName,
  { limits = MANY, token }: ServeOptions,
  make: (ports: Ports) => Listener,
): Promise<CarrierServer> {
  const model = modelSessions(t, token)
  const { sessions, meter, time } = model
  const carriers: Carrier[] = []
  const listener = make({
    open: (carrier) => {
      carriers.push(carrier)
      return sessions.open(carrier)
    },
    limits: new ConnectionLimits(kind, limits, meter),
    runtime: { ...realRuntime, after: time.after, monotonicMs: time.monotonicMs },
  })
  const port = await listener.listen()
  t.teardown(() => listener.close())
  return { ...model, port, listener, carriers }
}

/** A server of one carrier, and a function that connects an independent device to it. */
export interface Served {
  readonly server: ModelSessions
  readonly connect: () => Promise<Peer>
}

/** One row a carrier. */
export const SERVE: Readonly<
  Record<CarrierName, (t: ExecutionContext, files: Files) => Promise<Served>>
> = {
  wss: async (t) => {
    const server = await serveWss(t)
    return { server, connect: () => wssPeer(t, server.url) }
  },
  tcp: async (t, files) => {
    const server = await serveTcp(t, { certificate: certificateIn(files) })
    const tls = { ALPNProtocols: ['heliograph'], rejectUnauthorized: false }
    return { server, connect: () => tcpPeer(t, server.port, tls) }
  },
  quic: async (t, files) => {
    const server = await serveQuic(t, files)
    return { server, connect: () => quicPeer(t, server.port) }
  },
}
