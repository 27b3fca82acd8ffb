// Goal: with TLS the gateway encrypts its connection to NATS, and accepts only a valid certificate.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { startNats } from '#src/dev/servers/nats'
import { Connection } from '#src/stream/jetstream/connection'
import { makeAuthority, withAuthority } from '#test/support/certificate'
import type { Certificate } from '#test/support/certificate'
import { FakeLogger } from '#test/support/fake-telemetry'
import { realRuntime } from '#test/support/real-runtime'

const SECRET = 'hunter2-secret'

/**
 * Starts a server with this certificate. Gives its port; undefined where no server is installed.
 */
async function serve(t: ExecutionContext, certificate?: Omit<Certificate, 'pem'>) {
  const { certFile, keyFile } = certificate ?? {}
  const tls = `tls { cert_file: "${certFile}", key_file: "${keyFile}" }`
  const started = await startNats({
    env: process.env,
    ...(certificate !== undefined && { configuration: tls }),
  })
  if (started.kind === 'missing') {
    t.not(process.env['CI'], 'true', started.reason)
    t.log(`not run: ${started.reason}`)
    return undefined
  }
  const [server] = started.servers
  t.teardown(() => server?.stop())
  return server?.port
}

const open = (url: string, caFile?: string): Promise<Connection> => {
  const logger = new FakeLogger()
  const { monotonicMs } = realRuntime
  return Connection.open(
    { logger, timers: realRuntime, monotonicMs },
    { url, caFile, name: 'test' },
  )
}

async function isRefused(t: ExecutionContext, url: string, reason: string, caFile?: string) {
  const error = await t.throwsAsync(open(url, caFile))
  const { host } = new URL(url)
  t.is(error?.message, `there is no TLS with the NATS server at ${host}: ${reason}`)
}

const UNKNOWN = 'its certificate comes from an authority that is not trusted here'
const OTHER_NAME = 'its certificate is not for the name or address by which it is reached'

test(
  'TLS: a connection accepts a valid certificate for its address or its name',
  withAuthority(async (t, { caFile, issue }) => {
    for (const [names, host] of [
      ['IP:127.0.0.1', '127.0.0.1'],
      ['DNS:localhost', 'localhost'],
    ] as const) {
      const port = await serve(t, await issue(names, 2))
      if (port === undefined) return
      for (const scheme of ['tls', 'nats']) {
        const connection = await open(`${scheme}://user:${SECRET}@${host}:${port}`, caFile)
        t.true(connection.isConnected)
        t.true(connection.nats.info?.tls_required)
        await connection.close()
      }
    }
  }),
)

test(
  'TLS: every other certificate ends the start with a reason',
  withAuthority(async (t, { caFile, issue }) => {
    const port = await serve(t, await issue('IP:127.0.0.1', 2))
    if (port === undefined) return
    const url = `tls://user:${SECRET}@127.0.0.1:${port}`
    await isRefused(t, url, UNKNOWN)
    await isRefused(t, url, UNKNOWN, (await makeAuthority(t)).caFile)
    await isRefused(t, url.replace('127.0.0.1', 'localhost'), OTHER_NAME, caFile)

    const local = await serve(t, await issue('DNS:localhost', 2))
    await isRefused(t, `tls://127.0.0.1:${local}`, OTHER_NAME, caFile)
    const expired = await serve(t, await issue('IP:127.0.0.1', -1))
    await isRefused(t, `tls://127.0.0.1:${expired}`, 'its certificate has expired', caFile)
    const plain = await serve(t)
    await isRefused(t, `tls://127.0.0.1:${plain}`, 'it does not offer TLS', caFile)
  }),
)
