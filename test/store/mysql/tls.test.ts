// Goal: with TLS the database is talked to encrypted and only when its certificate is good.
// Method: a MariaDB whose certificate is replaced while it runs.

import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from 'node:util'

import test from 'ava'
import type { ExecutionContext } from 'ava'
import { DataSource } from 'typeorm'

import { dataSourceOptionsFor } from '#ormconfig'
import { startMariaDb } from '#src/dev/servers/mariadb'
import type { MariaDbServer } from '#src/dev/servers/mariadb'
import { openStore } from '#src/store/store'
import { TEST_MS } from '#test/support/bounds'
import { withAuthority, makeAuthority } from '#test/support/certificate'
import type { Authority } from '#test/support/certificate'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { temporaryFolder } from '#test/support/gateway'
import { administer, newDatabase } from '#test/support/mariadb'
import { realRuntime } from '#test/support/real-runtime'

const SECRET = 'hunter2-secret'

/** A server with a certificate that can be replaced; undefined where there is none to be had. */
async function serve(t: ExecutionContext, authority: Authority) {
  const folder = await temporaryFolder(t)
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const use = async (names: string, days = 2): Promise<void> => {
    const { certFile, keyFile } = await authority.issue(names, days)
    await copyFile(certFile, cert)
    await copyFile(keyFile, key)
  }
  await use('IP:127.0.0.1')
  const started = await startMariaDb({
    env: process.env,
    parameters: [`--ssl-cert=${cert}`, `--ssl-key=${key}`],
  })
  if (started.kind === 'missing') {
    t.not(process.env['CI'], 'true', started.reason)
    t.log(`not run: ${started.reason}`)
    return undefined
  }
  const { server } = started
  t.teardown(() => server.stop())
  return {
    server,
    replace: async (names: string, days?: number) => {
      await use(names, days)
      await administer(server, 'FLUSH SSL')
    },
  }
}

/** With a user whose password must not be told. */
async function urlOn(server: MariaDbServer, host: string): Promise<string> {
  const url = new URL(await newDatabase(server))
  await administer(
    server,
    `CREATE USER IF NOT EXISTS someone IDENTIFIED BY '${SECRET}'`,
    'GRANT ALL ON *.* TO someone',
  )
  return `mysqls://someone:${SECRET}@${host}:${server.port}${url.pathname}`
}

const openOn = (url: string, caFile?: string) =>
  openStore({ url, caFile, meter: new FakeMeter(), logger: new FakeLogger(), runtime: realRuntime })

async function refusalOf(t: ExecutionContext, url: string, caFile?: string): Promise<string> {
  const error = await t.throwsAsync(openOn(url, caFile))
  t.false(inspect(error, { showHidden: true }).includes(SECRET))
  return error?.message ?? ''
}

const NO_TLS = 'the database failed: there is no TLS with the server: '
const UNKNOWN = `${NO_TLS}its certificate comes from an authority that is not trusted here`
const OTHER_NAME = `${NO_TLS}its certificate is not for the name or address by which it is reached`

test(
  'TLS: a good certificate is taken, and every other one refused with a sentence',
  withAuthority(async (t, authority) => {
    t.timeout(TEST_MS)
    const served = await serve(t, authority)
    if (served === undefined) return
    const { server, replace } = served
    const { caFile } = authority
    const url = await urlOn(server, '127.0.0.1')

    const store = await openOn(url, caFile)
    t.like(await store.probe.readiness(), { ready: true })
    await store.close()
    const source = await new DataSource(dataSourceOptionsFor(url, caFile)).initialize()
    const [row] = (await source.query("SHOW STATUS LIKE 'Ssl_cipher'")) as { Value: string }[]
    t.not(row?.Value, '')
    await source.destroy()

    // A file of authorities alone asks for TLS as well.
    const plain = await new DataSource(
      dataSourceOptionsFor(url.replace('mysqls:', 'mysql:'), caFile),
    ).initialize()
    const [other] = (await plain.query("SHOW STATUS LIKE 'Ssl_cipher'")) as { Value: string }[]
    t.not(other?.Value, '')
    await plain.destroy()

    t.is(await refusalOf(t, url), UNKNOWN)
    t.is(await refusalOf(t, url, (await makeAuthority(t)).caFile), UNKNOWN)
    t.is(await refusalOf(t, url.replace('127.0.0.1', 'localhost'), caFile), OTHER_NAME)

    await replace('DNS:localhost')
    t.is(await refusalOf(t, url, caFile), OTHER_NAME)
    await (await openOn(url.replace('127.0.0.1', 'localhost'), caFile)).close()

    await replace('IP:127.0.0.1', -1)
    t.is(await refusalOf(t, url, caFile), `${NO_TLS}its certificate has expired`)
  }),
)

test(
  'TLS: a database that does not offer it is refused with a sentence',
  withAuthority(async (t, { caFile }) => {
    t.timeout(TEST_MS)
    const started = await startMariaDb({ env: process.env, parameters: ['--skip-ssl'] })
    if (started.kind === 'missing') return t.log(`not run: ${started.reason}`)
    t.teardown(() => started.server.stop())
    const url = await urlOn(started.server, '127.0.0.1')
    t.is(await refusalOf(t, url, caFile), `${NO_TLS}it does not offer TLS`)
    return undefined
  }),
)
