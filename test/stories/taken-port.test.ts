// Goal: a gateway that cannot have its port says so and ends, so that whoever started it can start
// it again; one that stays without a port looks alive and serves nobody.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import test from 'ava'

import { withCertificate } from '#test/support/certificate'
import { startGateway, temporaryFolder } from '#test/support/gateway'

test('a gateway whose port is taken ends with 1 and the reason, and takes no lane', async (t) => {
  const first = await startGateway(t)
  const directory = await temporaryFolder(t)
  const env = { SERVICE_HTTP_ADDR: first.baseUrl.replace('http://', '') }
  await t.throwsAsync(startGateway(t, { directory, env }), {
    message:
      /the gateway ended with 1: .*cannot listen on 127.0.0.1 port \d+ \(SERVICE_HTTP_ADDR\): EADDRINUSE/,
  })
  const database = new DatabaseSync(join(directory, 'gateway.db'), { readOnly: true })
  t.deepEqual(database.prepare('SELECT lane FROM lanes').all(), [])
  database.close()
})

test('a carrier whose port is taken ends the start with a sentence that names its setting', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const env = {
    SERVICE_PRIVATE_TRANSPORTS: 'wss,tcp',
    SERVICE_PRIVATE_TCP_TLS: 'off',
    SERVICE_PRIVATE_TCP_ADDR: `127.0.0.1:${port}`,
  }
  await t.throwsAsync(startGateway(t, { env }), {
    message:
      /ended with 1: .*cannot listen on .* port \d+ \(SERVICE_PRIVATE_TCP_ADDR\): EADDRINUSE/,
  })
})

test(
  'so does one in a thread of its own',
  withCertificate(async (t, { certFile, keyFile }) => {
    const socket = createSocket('udp4')
    t.teardown(() => socket.close())
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    const env = {
      SERVICE_PRIVATE_TRANSPORTS: 'quic',
      SERVICE_PRIVATE_TLS_CERT: certFile,
      SERVICE_PRIVATE_TLS_KEY: keyFile,
      SERVICE_PRIVATE_QUIC_ADDR: `127.0.0.1:${socket.address().port}`,
    }
    await t.throwsAsync(startGateway(t, { env }), {
      message: /ended with 1: .*cannot listen on .* \(SERVICE_PRIVATE_QUIC_ADDR\): EADDRINUSE/,
    })
  }),
)

test(
  'a certificate that is none ends the start with a sentence that names its setting',
  withCertificate(async (t, { keyFile }) => {
    const env = {
      SERVICE_PRIVATE_TRANSPORTS: 'tcp',
      SERVICE_PRIVATE_TLS_CERT: keyFile,
      SERVICE_PRIVATE_TLS_KEY: keyFile,
      SERVICE_PRIVATE_TCP_ADDR: '127.0.0.1:0',
    }
    await t.throwsAsync(startGateway(t, { env }), {
      message:
        /ended with 1: .*SERVICE_PRIVATE_TLS_CERT names .*, which holds no certificate in PEM/,
    })
  }),
)
