// Goal: every thread of a node reaches the database and NATS over TLS, with the authorities of the
// settings.
// Method: servers that refuse whoever does not, and a node with a provider, so that it has all its
// threads.

import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { createClient } from '#src/client/client'
import { startMariaDb } from '#src/dev/servers/mariadb'
import { startNats } from '#src/dev/servers/nats'
import { TEST_MS } from '#test/support/bounds'
import { makeAuthority, withAuthority } from '#test/support/certificate'
import type { Authority } from '#test/support/certificate'
import { get, startGateway, temporaryFolder, until } from '#test/support/gateway'
import { administer, newDatabase } from '#test/support/mariadb'
import { only } from '#test/support/nats'

const SECRET = 'hunter2-secret'
const PASSWORD = 'correct-horse'

type Env = Readonly<Record<string, string>>

/** The settings of a node over servers with a certificate; undefined where there are none. */
async function settings(t: ExecutionContext, authority: Authority): Promise<Env | undefined> {
  const { certFile, keyFile } = await authority.issue('IP:127.0.0.1', 2)
  const configuration = `tls { cert_file: "${certFile}", key_file: "${keyFile}" }`
  const nats = await startNats({ env: process.env, configuration })
  const parameters = [`--ssl-cert=${certFile}`, `--ssl-key=${keyFile}`]
  const mariaDb = await startMariaDb({ env: process.env, parameters })
  for (const started of [nats, mariaDb]) {
    if (started.kind !== 'missing') continue
    t.not(process.env['CI'], 'true', started.reason)
    t.log(`not run: ${started.reason}`)
  }
  if (nats.kind === 'missing' || mariaDb.kind === 'missing') return undefined
  const [stream, database] = [only(nats.servers), mariaDb.server]
  t.teardown(() => stream.stop())
  t.teardown(() => database.stop())
  const { pathname } = new URL(await newDatabase(database))
  await administer(
    database,
    `CREATE USER someone IDENTIFIED BY '${SECRET}' REQUIRE SSL`,
    'GRANT ALL ON *.* TO someone',
  )
  return {
    SERVICE_DATABASE_URL: `mysqls://someone:${SECRET}@127.0.0.1:${database.port}${pathname}`,
    SERVICE_DATABASE_CA_FILE: authority.caFile,
    SERVICE_NATS_URL: `tls://127.0.0.1:${stream.port}`,
    SERVICE_NATS_CA_FILE: authority.caFile,
    SERVICE_LANES: '2',
    ...(await provider(t)),
  }
}

/** A push provider that is never pushed to. */
async function provider(t: ExecutionContext): Promise<Env> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const file = join(await temporaryFolder(t), 'key.p8')
  await writeFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  return {
    SERVICE_APNS_KEY_FILE: file,
    SERVICE_APNS_KEY_ID: 'ABCDE12345',
    SERVICE_APNS_TEAM_ID: 'ABCDE12345',
    SERVICE_APNS_TOPIC: 'example.app',
  }
}

test(
  'a node is ready and applies over TLS, and says why it does not start without trust',
  withAuthority(async (t, authority) => {
    t.timeout(TEST_MS)
    const env = await settings(t, authority)
    if (env === undefined) return
    const gateway = await startGateway(t, { env })
    await until(
      () => get(gateway, '/readyz'),
      ({ status }) => status === 200,
    )
    const client = createClient(gateway)
    const { channel_id } = await client.channel.create({ channel_name: 'TLS', password: PASSWORD })
    const { op_id } = await client.message.send({ channel_id, password: PASSWORD, title: 'sealed' })
    await until(
      () => client.status(op_id),
      ({ status }) => status === 'sent',
    )
    t.is(await gateway.end('SIGTERM'), 0)

    const { caFile } = await makeAuthority(t)
    for (const [name, who] of [
      ['SERVICE_NATS_CA_FILE', 'NATS server'],
      ['SERVICE_DATABASE_CA_FILE', 'server'],
    ] as const) {
      const error = await t.throwsAsync(startGateway(t, { env: { ...env, [name]: caFile } }))
      const sentence = `no TLS with the ${who}.*comes from an authority that is not trusted here`
      t.regex(error?.message ?? '', new RegExp(sentence))
      t.regex(error?.message ?? '', /the gateway ended with 1/)
      t.false(error?.message.includes(SECRET))
    }
  }),
)
