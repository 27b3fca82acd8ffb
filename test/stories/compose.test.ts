// Goal: what docker-compose.yml says to NATS and MySQL is understood by such servers, with TLS.
// Method: no Docker: its script, its configuration and its flags run here, with other paths, ports
// and addresses.

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import test from 'ava'

import { startMariaDb } from '#src/dev/servers/mariadb'
import { startNats } from '#src/dev/servers/nats'
import { TEST_MS } from '#test/support/bounds'
import { get, startGateway, temporaryFolder, until } from '#test/support/gateway'
import { newDatabase } from '#test/support/mariadb'
import { only } from '#test/support/nats'

const run = promisify(execFile)
const COMPOSE = readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8')
const PASSWORD = '12e5'

/** The lines below one that ends so, which are further in, as Compose reads them. */
function blockBelow(head: RegExp): string {
  const lines = COMPOSE.split('\n')
  const at = lines.findIndex((line) => head.test(line))
  const indent = (line = ''): number => line.length - line.trimStart().length
  const rest = lines.slice(at + 1)
  const end = rest.findIndex((line) => line.trim() !== '' && indent(line) <= indent(lines[at]))
  return rest
    .slice(0, end)
    .join('\n')
    .replaceAll('$$', '$')
    .replaceAll(/\$\{NATS_PASSWORD[^}]*\}/g, PASSWORD)
}

/** The flags that a profile adds to the command of a server. */
const flagsWith = (name: string, folder: string): readonly string[] =>
  (
    new RegExp(`\\$\\{COMPOSE_PROFILES:\\+(--${name} [^}]*|--${name}=[^}]*)\\}`).exec(
      COMPOSE,
    )?.[1] ?? ''
  )
    .replaceAll('/certificates', folder)
    .split(' ')

test('NATS with users and TLS, and MySQL with TLS, are as the Compose file says', async (t) => {
  t.timeout(TEST_MS)
  const folder = await temporaryFolder(t)
  const script = blockBelow(/^ {6}- \|$/)
    .replace('/certificates', folder)
    .replace('DNS:mysql', 'DNS:mysql,IP:127.0.0.1')
    .replace('chown mysql:mysql', 'true')
  await run('bash', ['-euc', script])
  await run('bash', ['-euc', script]) // The second start keeps what is there.
  const ca = join(folder, 'ca.pem')

  const config = blockBelow(/^ {2}nats:$/)
    .replace(/^.*\|\n/, '')
    .replace(/^ *sync_interval.*$/m, '') // Servers before 2.10 do not know it.
  const natsFlags = flagsWith('tls', folder)
  t.is(natsFlags.length, 5)
  const [, users = ''] = /^ *(authorization \{[^}]*\})/m.exec(config) ?? []
  const [, , cert = '', , key = ''] = natsFlags
  const configuration = `${users}\ntls { cert_file: "${cert}", key_file: "${key}" }`
  const nats = await startNats({ env: process.env, configuration })
  const parameters = flagsWith('ssl-cert', folder).filter((flag) => flag.startsWith('--ssl'))
  t.is(parameters.length, 2)
  const mariaDb = await startMariaDb({ env: process.env, parameters })
  if (nats.kind === 'missing' || mariaDb.kind === 'missing') return void t.pass()
  const stream = only(nats.servers)
  t.teardown(() => stream.stop())
  t.teardown(() => mariaDb.server.stop())
  const file = join(folder, 'nats.conf')
  await writeFile(file, config.replace('/data', join(folder, 'data')))
  await run('nats-server', ['-t', '-c', file, ...natsFlags], {
    env: { ...process.env, HOSTNAME: 'nats-1' },
  })

  const env = {
    SERVICE_DATABASE_URL: await newDatabase(mariaDb.server),
    SERVICE_NATS_URL: `nats://heliograph:${PASSWORD}@127.0.0.1:${stream.port}`,
    SERVICE_NATS_CA_FILE: ca,
    SERVICE_DATABASE_CA_FILE: ca,
    SERVICE_LANES: '2',
  }
  const gateway = await startGateway(t, { env })
  await until(
    () => get(gateway, '/readyz'),
    ({ status }) => status === 200,
  )
  t.is(await gateway.end('SIGTERM'), 0)
  const wrong = env.SERVICE_NATS_URL.replace(PASSWORD, 'another')
  await t.throwsAsync(startGateway(t, { env: { ...env, SERVICE_NATS_URL: wrong } }), {
    message: /ended with 1/,
  })
})
