// The TCP carrier of the SDK against the TCP listener of the gateway, and against nonsense.

import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:tls'
import type { TLSSocket } from 'node:tls'

import test from 'ava'

import { ALPN } from '#src/client/node/frames'
import { tcpCarrier } from '#src/client/node/tcp'
import type { TcpOptions } from '#src/client/node/tcp'
import { certificateIn, serveTcp } from '#test/support/carrier-servers'
import { withCertificate } from '#test/support/certificate'
import { everythingArrives } from '#test/support/client-watch'
import { framed } from '#test/support/framed-client'
import { until } from '#test/support/until'

const host = '127.0.0.1'

test(
  'a device gets everything over TLS, frames of any size, and after a lost connection',
  withCertificate(async (t, files) => {
    const server = await serveTcp(t, { certificate: certificateIn(files) })
    const tls = { ca: readFileSync(files.certFile) }
    await everythingArrives(t, server, tcpCarrier({ host, port: server.port, tls }))
  }),
)

// The host that a device connects to, and the server name that the gateway is told.
for (const [named, expected] of [
  ['localhost', 'localhost'],
  [host, false],
] as const) {
  test(
    `the server name for ${named} is ${expected}`,
    withCertificate(async (t, { certFile, keyFile, pem }) => {
      const files = { cert: readFileSync(certFile), key: readFileSync(keyFile) }
      const server = createTlsServer({ ...files, ALPNProtocols: [ALPN] })
      t.teardown(() => server.close())
      server.listen(0, host)
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const arrived = once(server, 'secureConnection') as Promise<
        [TLSSocket & { servername: unknown }]
      >
      const { told, connection } = open({ host: named, port, tls: { ca: pem } })
      const [{ servername }] = await arrived
      t.is(servername, expected)
      await until('it is open', () => told.includes('opened'))
      connection.close()
    }),
  )
}

/** The events of a carrier. */
function open(options: TcpOptions) {
  const told: string[] = []
  const connection = tcpCarrier(options)({
    opened: () => void told.push('opened'),
    received: (text) => void told.push(text),
    closed: (reason) => void told.push(reason),
  })
  return { told, connection }
}

test('FrameReader gives whole frames, however their bytes are divided', async (t) => {
  const bytes = Buffer.concat([framed('{"a":"☀"}'), framed(''), framed('b')])
  const server = createServer((socket) => {
    for (const byte of bytes) socket.write(Buffer.of(byte))
    socket.end()
  }).listen(0, host)
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { told } = open({ host, port, tls: 'off' })
  await until('it is over', () => told.includes('connection lost'))
  t.deepEqual(told, ['opened', '{"a":"☀"}', '', 'b', 'connection lost'])
})

test('the carrier cuts a peer that announces a frame beyond the bound', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.write(Buffer.of(0xff, 0xff, 0xff, 0xff, 0))
  }).listen(0, host)
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { told, connection } = open({ host, port, tls: 'off' })
  await until('it is over', () => told.includes('connection lost'))
  connection.send('nothing happens')
  t.pass()
})

test('a connection that never opens reports its end once, with the code of the reason', async (t) => {
  const { told } = open({ host, port: 9, tls: 'off' })
  await until('it is over', () => told.length > 0)
  t.deepEqual(told, ['connection failed (ECONNREFUSED)'])
})
