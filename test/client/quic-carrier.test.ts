// The QUIC carrier of the SDK against the QUIC listener of the gateway, and against nobody.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'

import test from 'ava'

import { quicCarrier } from '#src/client/node/quic'
import type { QuicOptions } from '#src/client/node/quic'
import { serveQuic } from '#test/support/carrier-servers'
import { makeCertificate, withCertificate } from '#test/support/certificate'
import { everythingArrives } from '#test/support/client-watch'
import { until } from '#test/support/until'

const host = '127.0.0.1'
const serverName = 'localhost'

test(
  'a device gets everything over QUIC, frames of any size, and after a lost connection',
  withCertificate(async (t, files) => {
    const server = await serveQuic(t, files)
    await everythingArrives(
      t,
      server,
      quicCarrier({ host, port: server.port, serverName, ca: files.pem }),
    )
  }),
)

/** The events of a carrier. */
function open(options: QuicOptions) {
  const told: string[] = []
  const connection = quicCarrier(options)({
    opened: () => void told.push('opened'),
    received: () => undefined,
    closed: (reason) => void told.push(reason),
  })
  return { told, connection }
}

test(
  'the carrier refuses a gateway with another certificate or another name',
  withCertificate(async (t, files) => {
    const server = await serveQuic(t, files)
    const { pem: other } = await makeCertificate(t)
    const { pem } = files
    for (const options of [
      { ca: other, serverName },
      { ca: pem, serverName: 'a.example' },
      { ca: pem },
    ]) {
      const { told } = open({ host, port: server.port, ...options })
      await until('it is over', () => told.length > 0)
      t.deepEqual(told, ['connection failed (ErrorQUICConnectionLocalTLS)'])
    }
  }),
)

test('sdk-quic/1: a connection that closes before it opens reports its end once, and never opens', async (t) => {
  // Somebody who never answers.
  const silent = createSocket('udp4').bind(0, host)
  t.teardown(() => silent.close())
  await once(silent, 'listening')
  const { told, connection } = open({ host, port: silent.address().port })
  connection.close()
  connection.close()
  await until('it is over', () => told.length > 0)
  connection.send('nothing happens')
  t.is(told.length, 1)
})
