// Composes the thread of QUIC. For unexpected input of a peer the library throws where no caller
// can catch. In a thread of its own that ends no session of another carrier, and its work delays no
// request.

import { isMainThread } from 'node:worker_threads'

import { reportDefect } from '#domain/defect'
import type { Logger } from '#domain/telemetry'
import { certificateOf } from '#src/runtime/private-certificate'
import { createMetrics } from '#src/telemetry/meter'
import { bridgedSessions } from '#src/threads/carrier-bridge'
import type { ThreadEnds, ThreadSettings } from '#src/runtime/threads/contract'
import type { ThreadEdge } from '#src/runtime/threads/threads'
import { ConnectionLimits } from '#src/doors/connection-limits'

export async function composeQuic(
  { privateTransports }: ThreadSettings,
  { rpc, logger, runtime }: ThreadEdge<'quic'>,
): Promise<ThreadEnds['quic']['services']> {
  const metrics = createMetrics()
  if (!isMainThread) logUncaught(logger)
  const { createQuicListener } = await loadQuic()
  const { host, port } = privateTransports.quic
  const listener = createQuicListener(
    { host, port, certificate: certificateOf(privateTransports) },
    {
      open: bridgedSessions(rpc),
      limits: new ConnectionLimits('quic', privateTransports.connections, metrics.meter),
      runtime,
    },
  )
  return {
    control: { metrics: () => metrics.part(), close: () => listener.close() },
    listener: { listen: () => listener.listen(), reload: () => listener.reload() },
  }
}

/** The library has native code for few platforms. Throws a sentence for the operator. */
async function loadQuic() {
  try {
    return await import('#src/transports/carriers/quic/listener')
  } catch (error) {
    const here = `${process.platform}-${process.arch}`
    throw new Error(
      `the QUIC library cannot be loaded on ${here}: install @matrixai/quic-${here}, or leave ` +
        'quic out of SERVICE_PRIVATE_TRANSPORTS',
      { cause: error },
    )
  }
}

/** Logs errors that nobody caught. The connection at fault times out; the others go on. */
function logUncaught(logger: Logger): void {
  const report = (error: unknown): void => {
    logger.warn('the QUIC library failed at a connection', { ...reportDefect(error) })
  }
  process.on('uncaughtException', report)
  process.on('unhandledRejection', report)
}
