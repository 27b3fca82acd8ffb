// Goal: a gateway that cannot have its port says so and ends, so that whoever started it can start
// it again; one that stays without a port looks alive and serves nobody.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { withCertificate } from '#test/support/certificate'
import type { Certificate } from '#test/support/certificate'
import { startGateway, temporaryFolder } from '#test/support/gateway'

type Epochs = readonly { readonly lane: number; readonly epoch: number }[]

function epochsIn(directory: string): Epochs {
  const database = new DatabaseSync(join(directory, 'gateway.db'), { readOnly: true })
  const rows = database.prepare('SELECT lane, epoch FROM lanes ORDER BY lane').all()
  database.close()
  return rows.map(({ lane, epoch }) => ({ lane: Number(lane), epoch: Number(epoch) }))
}

async function takenTcpPort(t: ExecutionContext): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function takenUdpPort(t: ExecutionContext): Promise<number> {
  const socket = createSocket('udp4')
  t.teardown(() => socket.close())
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return socket.address().port
}

interface TakenPort {
  readonly setting: string
  readonly take: (t: ExecutionContext) => Promise<number>
  /** Further settings that turn the listener on. */
  readonly more?: (certificate: Certificate) => Readonly<Record<string, string>>
}

const TAKEN_PORTS: readonly TakenPort[] = [
  { setting: 'SERVICE_HTTP_ADDR', take: takenTcpPort },
  {
    setting: 'SERVICE_COMPAT_ADDR',
    take: takenTcpPort,
    more: () => ({ SERVICE_COMPAT_ROOT: 'topic' }),
  },
  {
    setting: 'SERVICE_PRIVATE_TCP_ADDR',
    take: takenTcpPort,
    more: () => ({ SERVICE_PRIVATE_TRANSPORTS: 'wss,tcp', SERVICE_PRIVATE_TCP_TLS: 'off' }),
  },
  {
    setting: 'SERVICE_PRIVATE_QUIC_ADDR',
    take: takenUdpPort,
    more: ({ certFile, keyFile }) => ({
      SERVICE_PRIVATE_TRANSPORTS: 'quic',
      SERVICE_PRIVATE_TLS_CERT: certFile,
      SERVICE_PRIVATE_TLS_KEY: keyFile,
    }),
  },
]

const refusalOf = (setting: string): RegExp =>
  new RegExp(`ended with 1: .*cannot listen on 127.0.0.1 port \\d+ \\(${setting}\\): EADDRINUSE`)

for (const { setting, take, more } of TAKEN_PORTS) {
  test(
    `a first start without the port of ${setting} names it and leaves nothing behind`,
    withCertificate(async (t, certificate) => {
      const directory = await temporaryFolder(t)
      const env = { ...more?.(certificate), [setting]: `127.0.0.1:${await take(t)}` }
      await t.throwsAsync(startGateway(t, { directory, env }), { message: refusalOf(setting) })
      t.deepEqual(readdirSync(directory), [])
    }),
  )
}

test(
  'a later start without a port names it and takes no lane',
  withCertificate(async (t, certificate) => {
    const directory = await temporaryFolder(t)
    await (await startGateway(t, { directory })).end('SIGTERM')
    const before = epochsIn(directory)
    t.true(before.length > 0)
    for (const { setting, take, more } of TAKEN_PORTS) {
      const env = { ...more?.(certificate), [setting]: `127.0.0.1:${await take(t)}` }
      await t.throwsAsync(startGateway(t, { directory, env }), { message: refusalOf(setting) })
      t.deepEqual(epochsIn(directory), before)
    }
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
