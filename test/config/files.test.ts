// Goal: certificates, keys and authorities are files that exist, and come where they are needed.

import test from 'ava'

import { ConfigError } from '#src/config/config'
import type { Env } from '#src/config/config'
import { withCertificate } from '#test/support/certificate'
import { CLUSTER, FILE, configFrom } from '#test/support/config-from'

test('a certificate and its key come together, and exist', (t) => {
  const both = configFrom({ SERVICE_HTTP_TLS_CERT: FILE, SERVICE_HTTP_TLS_KEY: FILE })
  t.deepEqual(both.tls, { certFile: FILE, keyFile: FILE })

  const rows: readonly (readonly [env: Env, sentence: RegExp])[] = [
    [{ SERVICE_HTTP_TLS_CERT: FILE }, /^SERVICE_HTTP_TLS_KEY is missing; allowed: /],
    [{ SERVICE_HTTP_TLS_KEY: FILE }, /^SERVICE_HTTP_TLS_CERT is missing; allowed: /],
    [
      { SERVICE_HTTP_TLS_CERT: FILE, SERVICE_HTTP_TLS_KEY: '/none/key.pem' },
      /^SERVICE_HTTP_TLS_KEY names \/none\/key\.pem, which does not exist; allowed: /,
    ],
  ]
  for (const [env, sentence] of rows) {
    t.throws(() => configFrom(env), { instanceOf: ConfigError, message: sentence })
  }
})

test('a carrier that needs a certificate does not start without one, and the sentence says so', (t) => {
  const [tcp, quic] = ['tcp', 'wss,quic'].map((list) => ({ SERVICE_PRIVATE_TRANSPORTS: list }))
  const cert = { SERVICE_PRIVATE_TLS_CERT: FILE }
  const rows: readonly (readonly [env: Env, sentence: RegExp])[] = [
    [
      { ...tcp },
      /^SERVICE_PRIVATE_TLS_CERT is missing, and .* has tcp; .* SERVICE_PRIVATE_TCP_TLS=off/,
    ],
    [{ ...quic }, /^SERVICE_PRIVATE_TLS_CERT is missing, and .* has quic; allowed: a PEM file/],
    [
      { ...quic, SERVICE_PRIVATE_TCP_TLS: 'off' },
      /^SERVICE_PRIVATE_TLS_CERT is missing, and .* has quic; /,
    ],
    [{ ...tcp, ...cert }, /^SERVICE_PRIVATE_TLS_KEY is missing; allowed: /],
    [
      { ...tcp, ...cert, SERVICE_PRIVATE_TLS_KEY: '/none/key.pem' },
      /^SERVICE_PRIVATE_TLS_KEY names \/none\/key\.pem, which does not exist; allowed: /,
    ],
  ]
  for (const [env, sentence] of rows) {
    t.throws(() => configFrom(env), { instanceOf: ConfigError, message: sentence })
  }
})

test(
  'the authorities to trust are read from a file, in a cluster only',
  withCertificate(async (t, { certFile }) => {
    const [database, nats] = ['SERVICE_DATABASE_CA_FILE', 'SERVICE_NATS_CA_FILE'] as const
    const config = configFrom({ ...CLUSTER, [database]: certFile, [nats]: certFile })
    t.is(config.databaseCaFile, certFile)
    t.is(config.cluster?.natsCaFile, certFile)
    for (const name of [database, nats]) {
      const refused = { message: new RegExp(`^${name} is set without SERVICE_NATS_URL; allowed: `) }
      t.throws(() => configFrom({ [name]: certFile }), refused)
    }
    const six = { ...CLUSTER, SERVICE_DATABASE_URL: 'mysql://u:hunter2@[::1]/db' }
    t.notThrows(() => configFrom(six))
    t.throws(() => configFrom({ ...six, [database]: certFile }), { message: /IPv6/ })
  }),
)
