import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import test from 'ava'

import { withCertificate } from '#test/support/certificate'
import { ConfigError, configFrom as configWith } from '#src/config/config'
import { readEnv } from '#src/config/environment'
import type { Config, Env } from '#src/config/config'
import { realRuntime } from '#test/support/real-runtime'

const configFrom = (env: Env): Config => configWith(env, realRuntime)

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** A file that exists, wherever the tests run. */
const FILE = import.meta.filename

test('without any setting every default is in force', (t) => {
  const { nodeId, ...config } = configFrom({})
  t.deepEqual(config, {
    http: { host: '127.0.0.1', port: 8080 },
    tls: undefined,
    compatibilityRoot: undefined,
    token: '',
    publicBaseUrl: undefined,
    assistants: undefined,
    trustedProxies: [],
    databaseUrl: 'sqlite:data/heliograph.db',
    databaseCaFile: undefined,
    cluster: undefined,
    roles: { ingress: true, actors: true, dispatch: true },
    providers: {},
    thingPushIntervalMs: 60_000,
    lanes: 1,
    privateTransports: {
      carriers: ['wss'],
      tcp: { host: '127.0.0.1', port: 5223, publicPort: undefined, isPlain: false },
      quic: { host: '127.0.0.1', port: 5223, publicPort: undefined },
      tls: undefined,
      connections: { total: 100_000, perAddress: 20_000 },
    },
    statusRetentionMs: 7 * DAY_MS,
    historyRetentionMs: { messagesAndEvents: 30 * DAY_MS, thingUpdates: DAY_MS },
    deviceRetentionMs: 90 * DAY_MS,
    logKeepMs: HOUR_MS,
    logBytesMax: 2 ** 30,
    drainTimeoutMs: 20_000,
    logLevel: 'info',
    passwordBudget: { perAddress: 60, total: 1200 },
    deviceBudgetPerAddress: 60,
  })
  t.regex(nodeId, /^[0-9a-f]{12}$/)
  t.not(configFrom({}).nodeId, nodeId)
})

test('a blank setting is one that is not made, and white space around a value is none of it', (t) => {
  const blank = configFrom({ SERVICE_LANES: '', SERVICE_TOKEN: '  ', SERVICE_LOG_LEVEL: ' ' })
  t.like(blank, { lanes: 1, token: '', logLevel: 'info' })
  const spaced = configFrom({ SERVICE_LANES: ' 4 ', SERVICE_TOKEN: ' secret\n' })
  t.like(spaced, { lanes: 4, token: 'secret' })
})

const MYSQL = 'mysql://user:password@host:3306/heliograph'
const CLUSTER: Env = { SERVICE_DATABASE_URL: MYSQL, SERVICE_NATS_URL: 'nats://127.0.0.1:4222' }
const COMPAT: Env = { SERVICE_COMPAT_ROOT: 'topic', SERVICE_COMPAT_ADDR: '127.0.0.1:8081' }
const root = ({ compatibilityRoot: given }: Config): unknown => [
  given?.style,
  given?.address?.host,
  given?.address?.port,
  given?.hostName,
]
const NAMED = ['topic', undefined, undefined, 'push.example.com']
const APPLE = {
  keyFile: FILE,
  keyId: 'KEY1234567',
  teamId: 'TEAM123456',
  topic: 'org.example.app',
}
const APNS: Env = {
  SERVICE_APNS_KEY_FILE: APPLE.keyFile,
  SERVICE_APNS_KEY_ID: APPLE.keyId,
  SERVICE_APNS_TEAM_ID: APPLE.teamId,
  SERVICE_APNS_TOPIC: APPLE.topic,
}
const NO_DISPATCH: Env = { SERVICE_ROLES: 'ingress,actors' }
const longToken = 'x'.repeat(4096)

test('a cluster has sixteen lanes to share out unless told otherwise', (t) => {
  t.is(configFrom(CLUSTER).lanes, 16)
  t.is(configFrom({ ...CLUSTER, SERVICE_LANES: '5' }).lanes, 5)
})

// Method: a setting, a value that is taken, and what it gives. Limits stand here at the limit.
// The last column: settings that must stand beside it.
type Read = (config: Config) => unknown
const carriers = (config: Config) => config.privateTransports.carriers
const connections = (config: Config) => config.privateTransports.connections
const PRIVATE_TLS = { SERVICE_PRIVATE_TLS_CERT: FILE, SERVICE_PRIVATE_TLS_KEY: FILE }

const rolesOf: Read = ({ roles }) =>
  Object.entries(roles)
    .flatMap(([role, isOn]) => (isOn ? [role] : []))
    .join(' ')
const apns: Read = ({ providers }) => providers.apns
const fcm: Read = ({ providers }) => providers.fcm
const good: readonly (readonly [
  name: string,
  value: string,
  read: Read,
  expected: unknown,
  beside?: Env,
])[] = [
  ['SERVICE_HTTP_ADDR', '0.0.0.0:80', ({ http }) => http, { host: '0.0.0.0', port: 80 }],
  ['SERVICE_HTTP_ADDR', '[::1]:65535', ({ http }) => http, { host: '::1', port: 65_535 }],
  ['SERVICE_HTTP_ADDR', 'localhost:0', ({ http }) => http, { host: 'localhost', port: 0 }],
  ['SERVICE_TOKEN', longToken, ({ token }) => token, longToken],
  ['SERVICE_PUBLIC_BASE_URL', 'https://push.example/', publicUrl, 'https://push.example'],
  ['SERVICE_PUBLIC_BASE_URL', 'https://a.example:8443/p/', publicUrl, 'https://a.example:8443/p'],
  ['SERVICE_MCP_ENABLED', 'true', ({ assistants }) => assistants !== undefined, true],
  ['SERVICE_TRUSTED_PROXIES', '10.0.0.0/8', proxies, ['10.0.0.0/8']],
  [
    'SERVICE_TRUSTED_PROXIES',
    ' 127.0.0.1 , ::1/128,0.0.0.0/0',
    proxies,
    ['127.0.0.1', '::1/128', '0.0.0.0/0'],
  ],
  [
    'SERVICE_DATABASE_URL',
    'sqlite:/var/x.db',
    ({ databaseUrl }) => databaseUrl,
    'sqlite:/var/x.db',
  ],
  ['SERVICE_DATABASE_URL', MYSQL, ({ databaseUrl }) => databaseUrl, MYSQL, CLUSTER],
  [
    'SERVICE_DATABASE_URL',
    'mysqls://u:p@127.0.0.1/db',
    ({ databaseUrl }) => databaseUrl,
    'mysqls://u:p@127.0.0.1/db',
    CLUSTER,
  ],
  ['SERVICE_NATS_URL', 'nats://u:p@a:1,tls://b', natsUrl, 'nats://u:p@a:1,tls://b', CLUSTER],
  ['SERVICE_STREAM_REPLICAS', '5', replicas, 5, CLUSTER],
  ['SERVICE_STREAM_REPLICAS', '3', replicas, 3, CLUSTER],
  ['SERVICE_COMPAT_ROOT', 'sendkey', root, ['sendkey', '127.0.0.1', 8081, undefined], COMPAT],
  ['SERVICE_COMPAT_ADDR', '[::1]:80', root, ['topic', '::1', 80, undefined], COMPAT],
  ['SERVICE_COMPAT_HOST', 'Push.Example.com', root, NAMED, { SERVICE_COMPAT_ROOT: 'topic' }],
  ['SERVICE_ROLES', 'actors, ingress', rolesOf, 'ingress actors'],
  ['SERVICE_ROLES', 'dispatch,actors,ingress', rolesOf, 'ingress actors dispatch'],
  ['SERVICE_ROLES', 'actors', rolesOf, 'actors', CLUSTER],
  ['SERVICE_ROLES', 'ingress', rolesOf, 'ingress', CLUSTER],
  ['SERVICE_ROLES', 'dispatch', rolesOf, 'dispatch', CLUSTER],
  ['SERVICE_THING_PUSH_INTERVAL', '0s', ({ thingPushIntervalMs }) => thingPushIntervalMs, 0],
  ['SERVICE_THING_PUSH_INTERVAL', '1d', ({ thingPushIntervalMs }) => thingPushIntervalMs, DAY_MS],
  ['SERVICE_FCM_CREDENTIALS_FILE', FILE, fcm, { credentialsFile: FILE }],
  ['SERVICE_FCM_CREDENTIALS_FILE', 'no', fcm, { credentialsFile: 'no' }, NO_DISPATCH],
  ['SERVICE_APNS_KEY_FILE', FILE, apns, { ...APPLE, host: 'api.push.apple.com' }, APNS],
  [
    'SERVICE_APNS_KEY_ID',
    'ABCDEFGHI9',
    (config) => config.providers.apns?.keyId,
    'ABCDEFGHI9',
    APNS,
  ],
  [
    'SERVICE_APNS_TEAM_ID',
    '0000000000',
    (config) => config.providers.apns?.teamId,
    '0000000000',
    APNS,
  ],
  ['SERVICE_APNS_TOPIC', 'a.b', (config) => config.providers.apns?.topic, 'a.b', APNS],
  ['SERVICE_APNS_HOST', 'localhost:8443', apns, { ...APPLE, host: 'localhost:8443' }, APNS],
  ['SERVICE_LANES', '1', ({ lanes }) => lanes, 1],
  ['SERVICE_LANES', '1024', ({ lanes }) => lanes, 1024],
  ['SERVICE_NODE_ID', 'Node_1-a', ({ nodeId }) => nodeId, 'Node_1-a'],
  ['SERVICE_NODE_ID', 'n'.repeat(64), ({ nodeId }) => nodeId, 'n'.repeat(64)],
  ['SERVICE_PRIVATE_TRANSPORTS', 'none', carriers, []],
  ['SERVICE_PRIVATE_TRANSPORTS', 'wss', carriers, ['wss']],
  ['SERVICE_PRIVATE_TRANSPORTS', 'quic, tcp,wss', carriers, ['wss', 'tcp', 'quic'], PRIVATE_TLS],
  ['SERVICE_PRIVATE_TRANSPORTS', 'tcp', carriers, ['tcp'], { SERVICE_PRIVATE_TCP_TLS: 'off' }],
  ['SERVICE_PRIVATE_TCP_ADDR', '[::]:0', ({ privateTransports: { tcp } }) => tcp.host, '::'],
  ['SERVICE_PRIVATE_TCP_PORT', '443', ({ privateTransports: { tcp } }) => tcp.publicPort, 443],
  ['SERVICE_PRIVATE_TCP_TLS', 'on', ({ privateTransports: { tcp } }) => tcp.isPlain, false],
  ['SERVICE_PRIVATE_TCP_TLS', 'off', ({ privateTransports: { tcp } }) => tcp.isPlain, true],
  ['SERVICE_PRIVATE_QUIC_ADDR', '0.0.0.0:1', ({ privateTransports: { quic } }) => quic.port, 1],
  ['SERVICE_PRIVATE_QUIC_PORT', '1', ({ privateTransports: { quic } }) => quic.publicPort, 1],
  ['SERVICE_PRIVATE_CONNECTIONS', '1', connections, { total: 1, perAddress: 20_000 }],
  [
    'SERVICE_PRIVATE_CONNECTIONS_PER_ADDRESS',
    '10000000',
    connections,
    { total: 100_000, perAddress: 10_000_000 },
  ],
  ['SERVICE_STATUS_RETENTION', '1m', ({ statusRetentionMs }) => statusRetentionMs, MINUTE_MS],
  ['SERVICE_STATUS_RETENTION', '366d', ({ statusRetentionMs }) => statusRetentionMs, 366 * DAY_MS],
  ['SERVICE_STATUS_RETENTION', '60000ms', ({ statusRetentionMs }) => statusRetentionMs, MINUTE_MS],
  ['SERVICE_DEVICE_RETENTION', '1d', ({ deviceRetentionMs }) => deviceRetentionMs, DAY_MS],
  ['SERVICE_HISTORY_RETENTION', '2d', history, [2 * DAY_MS, 2 * DAY_MS]],
  ['SERVICE_HISTORY_RETENTION', '60d, 12h', history, [60 * DAY_MS, 12 * HOUR_MS]],
  ['SERVICE_LOG_KEEP', '0s', ({ logKeepMs }) => logKeepMs, 0],
  ['SERVICE_LOG_KEEP', '30d', ({ logKeepMs }) => logKeepMs, 30 * DAY_MS],
  ['SERVICE_LOG_BYTES', '1048576', ({ logBytesMax }) => logBytesMax, 2 ** 20],
  ['SERVICE_LOG_BYTES', '1099511627776', ({ logBytesMax }) => logBytesMax, 2 ** 40],
  ['SERVICE_DRAIN_TIMEOUT', '1s', ({ drainTimeoutMs }) => drainTimeoutMs, 1000],
  ['SERVICE_DRAIN_TIMEOUT', '10m', ({ drainTimeoutMs }) => drainTimeoutMs, 10 * MINUTE_MS],
  ['SERVICE_LOG_LEVEL', 'silent', ({ logLevel }) => logLevel, 'silent'],
  [
    'SERVICE_PASSWORD_BUDGET_PER_ADDRESS',
    '1',
    ({ passwordBudget }) => passwordBudget.perAddress,
    1,
  ],
  ['SERVICE_DEVICE_BUDGET_PER_ADDRESS', '100000', (config) => config.deviceBudgetPerAddress, 1e5],
  ['SERVICE_PASSWORD_BUDGET_TOTAL', '1000000', ({ passwordBudget }) => passwordBudget.total, 1e6],
]

function natsUrl({ cluster }: Config): unknown {
  return cluster?.natsUrl
}

function replicas({ cluster }: Config): unknown {
  return cluster?.streamReplicas
}

function publicUrl({ publicBaseUrl }: Config): unknown {
  return publicBaseUrl
}

function proxies({ trustedProxies }: Config): unknown {
  return trustedProxies
}

function history({ historyRetentionMs }: Config): unknown {
  return [historyRetentionMs.messagesAndEvents, historyRetentionMs.thingUpdates]
}

for (const [name, value, read, expected, beside] of good) {
  test(`${name}=${value.slice(0, 40)} (${value.length} characters) is taken`, (t) => {
    t.deepEqual(read(configFrom({ ...beside, [name]: value })), expected)
  })
}

// Method: a setting, a value that is refused, and what the sentence says is allowed.
const bad: readonly (readonly [name: string, value: string, allowed: RegExp, beside?: Env])[] = [
  ['SERVICE_HTTP_ADDR', '8080', /host:port/],
  ['SERVICE_HTTP_ADDR', ':8080', /host:port/],
  ['SERVICE_HTTP_ADDR', '::1:8080', /\[IPv6\]:port/],
  ['SERVICE_HTTP_ADDR', 'localhost:65536', /port 0 to 65535/],
  ['SERVICE_HTTP_ADDR', 'localhost:http', /host:port/],
  ['SERVICE_TOKEN', `${longToken}x`, /at most 4096/],
  ['SERVICE_TOKEN', 'two words', /without spaces/],
  ['SERVICE_TOKEN', 'schlüssel', /visible ASCII/],
  ['SERVICE_PUBLIC_BASE_URL', 'http://push.example', /https:\/\/push\.example/],
  ['SERVICE_PUBLIC_BASE_URL', 'push.example', /https:\/\/push\.example/],
  ['SERVICE_PUBLIC_BASE_URL', 'https://user:pass@push.example', /https:\/\/push\.example/],
  ['SERVICE_PUBLIC_BASE_URL', 'https://push.example?x=1', /https:\/\/push\.example/],
  ['SERVICE_MCP_ENABLED', 'yes', /true, false/],
  ['SERVICE_TRUSTED_PROXIES', '10.0.0.0/33', /10\.0\.0\.0\/8/],
  ['SERVICE_TRUSTED_PROXIES', '::1/129', /::1\/128/],
  ['SERVICE_TRUSTED_PROXIES', 'proxy.example', /comma list/],
  ['SERVICE_TRUSTED_PROXIES', '10.0.0.0/', /comma list/],
  ['SERVICE_DATABASE_URL', 'postgres://user:hunter2@host/db', /sqlite:<path>/],
  ['SERVICE_DATABASE_URL', 'sqlite:', /sqlite:<path>/],
  ['SERVICE_DATABASE_URL', 'mysql://user:hunter2@host', /host:port\/database/],
  ['SERVICE_DATABASE_URL', 'mysql://user:hunter2@host/a/b', /host:port\/database/],
  ['SERVICE_DATABASE_URL', MYSQL, /for a cluster .* for one process neither/],
  ['SERVICE_NATS_URL', 'nats://127.0.0.1:4222', /for a cluster .* for one process neither/],
  ['SERVICE_NATS_URL', 'http://host:4222', /comma list of nats:/, CLUSTER],
  ['SERVICE_NATS_URL', 'nats://a:4222,', /comma list of nats:/, CLUSTER],
  ['SERVICE_NATS_URL', 'nats://a:4222/path', /comma list of nats:/, CLUSTER],
  ['SERVICE_NATS_URL', 'nats://user:100%@a:4222', /comma list .* percent-encoded/, CLUSTER],
  ['SERVICE_DATABASE_URL', 'mysql://100%:password@host/db', /mysql:.* percent-encoded/, CLUSTER],
  ['SERVICE_DATABASE_URL', 'mysqls://user:hunter2@[::1]/db', /a name or an IPv4/, CLUSTER],
  ['SERVICE_DATABASE_URL', 'mysqls://user:hunter2@host', /mysqls:/, CLUSTER],
  ['SERVICE_DATABASE_CA_FILE', '/none/ca.pem', /PEM file .* authorities/, CLUSTER],
  ['SERVICE_DATABASE_CA_FILE', FILE, /PEM file .* authorities/, CLUSTER],
  ['SERVICE_NATS_CA_FILE', '/none/ca.pem', /PEM file .* authorities/, CLUSTER],
  ['SERVICE_NATS_CA_FILE', FILE, /PEM file .* authorities/, CLUSTER],
  ['SERVICE_STREAM_REPLICAS', '2', /1, 3, 5/, CLUSTER],
  ['SERVICE_STREAM_REPLICAS', '3', /for one process neither/],
  ['SERVICE_ROLES', 'ingress', /ingress,actors,dispatch, for one process/],
  ['SERVICE_ROLES', 'providers', /ingress, actors, dispatch/, CLUSTER],
  ['SERVICE_ROLES', 'dispatch,actors', /ingress,actors,dispatch, for one process/],
  ['SERVICE_ROLES', 'actors,actors', /ingress, actors/, CLUSTER],
  ['SERVICE_COMPAT_ROOT', 'pager', /topic, sendkey, devicekey/, COMPAT],
  ['SERVICE_COMPAT_ADDR', '8081', /host:port/, COMPAT],
  ['SERVICE_COMPAT_HOST', 'https://push.example.com', /host name without scheme/, COMPAT],
  ['SERVICE_COMPAT_HOST', 'push.example.com:80', /host name without scheme/, COMPAT],
  ['SERVICE_THING_PUSH_INTERVAL', '25h', /to 86400s/],
  ['SERVICE_FCM_CREDENTIALS_FILE', '/none', /which does not exist/],
  ['SERVICE_APNS_KEY_FILE', '/none', /which does not exist/, APNS],
  ['SERVICE_APNS_KEY_FILE', '', /the \.p8 file/, APNS],
  ['SERVICE_APNS_TOPIC', '', /bundle identifier/, APNS],
  ['SERVICE_APNS_TOPIC', 'no topic', /org\.example\.app/, APNS],
  ['SERVICE_APNS_KEY_ID', 'short', /10 of A to Z/, APNS],
  ['SERVICE_APNS_TEAM_ID', 'team123456', /10 of A to Z/, APNS],
  ['SERVICE_APNS_HOST', 'https://api.push.apple.com', /host:port/, APNS],
  ['SERVICE_APNS_HOST', 'localhost:65536', /host:port/],
  ['SERVICE_LANES', '0', /from 1 to 1024/],
  ['SERVICE_LANES', '1025', /from 1 to 1024/],
  ['SERVICE_LANES', '-1', /from 1 to 1024/],
  ['SERVICE_LANES', '1.5', /whole number/],
  ['SERVICE_LANES', '0x10', /whole number/],
  ['SERVICE_LANES', 'many', /whole number/],
  ['SERVICE_NODE_ID', 'n'.repeat(65), /1 to 64/],
  ['SERVICE_NODE_ID', 'a.b', /letters, digits/],
  ['SERVICE_PRIVATE_TRANSPORTS', 'smoke', /none, or one or more of wss, tcp, quic/],
  ['SERVICE_PRIVATE_TRANSPORTS', 'none,wss', /none, or one or more of wss, tcp, quic/],
  ['SERVICE_PRIVATE_TRANSPORTS', 'wss,wss', /none, or one or more of wss, tcp, quic/],
  ['SERVICE_PRIVATE_TCP_ADDR', '5223', /host:port/],
  ['SERVICE_PRIVATE_TCP_PORT', '0', /from 1 to 65535/],
  ['SERVICE_PRIVATE_TCP_TLS', 'maybe', /on, off/],
  ['SERVICE_PRIVATE_QUIC_ADDR', 'host:70000', /port 0 to 65535/],
  ['SERVICE_PRIVATE_QUIC_PORT', '65536', /from 1 to 65535/],
  ['SERVICE_PRIVATE_CONNECTIONS', '0', /from 1 to 10000000/],
  ['SERVICE_PRIVATE_CONNECTIONS_PER_ADDRESS', '10000001', /from 1 to 10000000/],
  ['SERVICE_STATUS_RETENTION', '59s', /from 60s/],
  ['SERVICE_STATUS_RETENTION', '367d', /to 31622400s/],
  ['SERVICE_STATUS_RETENTION', '7', /90s, 20m, 12h or 7d/],
  ['SERVICE_STATUS_RETENTION', '1w', /90s, 20m, 12h or 7d/],
  ['SERVICE_DEVICE_RETENTION', '23h', /from 86400s/],
  ['SERVICE_DEVICE_RETENTION', '3661d', /to 316224000s/],
  ['SERVICE_HISTORY_RETENTION', '30d,24h,1h', /one or two/],
  ['SERVICE_HISTORY_RETENTION', '30d,', /90s, 20m, 12h or 7d/],
  ['SERVICE_HISTORY_RETENTION', '30d,59s', /from 60s/],
  ['SERVICE_LOG_KEEP', '31d', /to 2592000s/],
  ['SERVICE_LOG_BYTES', '1048575', /from 1048576/],
  ['SERVICE_LOG_BYTES', '1099511627777', /to 1099511627776/],
  ['SERVICE_DRAIN_TIMEOUT', '999ms', /from 1s/],
  ['SERVICE_DRAIN_TIMEOUT', '601s', /to 600s/],
  ['SERVICE_LOG_LEVEL', 'loud', /fatal, error, warn, info, debug, silent/],
  ['SERVICE_LOG_LEVEL', 'INFO', /info/],
  ['SERVICE_PASSWORD_BUDGET_PER_ADDRESS', '0', /from 1 to 1000000/],
  ['SERVICE_PASSWORD_BUDGET_TOTAL', '1000001', /from 1 to 1000000/],
  ['SERVICE_DEVICE_BUDGET_PER_ADDRESS', '100001', /from 1 to 100000/],
]

for (const [name, value, allowed, beside] of bad) {
  test(`${name}=${value.slice(0, 40)} (${value.length} characters) stops the start`, (t) => {
    const env = { ...beside, [name]: value }
    const error = t.throws(() => configFrom(env), { instanceOf: ConfigError })
    t.regex(error.message, new RegExp(`^${name} [^;]+; allowed: .+`))
    t.regex(error.message, allowed)
  })
}

test('every setting that the code reads has a row of each kind here', (t) => {
  const asked = new Set<string>()
  const env: Env = new Proxy({}, { get: (_, name) => void asked.add(String(name)) })
  configFrom(env)
  const tls = ['HTTP', 'PRIVATE'].flatMap((of) => [
    `SERVICE_${of}_TLS_CERT`,
    `SERVICE_${of}_TLS_KEY`,
  ])
  tls.push('SERVICE_DATABASE_CA_FILE', 'SERVICE_NATS_CA_FILE')
  for (const rows of [good, bad]) {
    const named = new Set([...rows.map(([name]) => name), ...tls])
    t.deepEqual(
      [...asked].filter((name) => !named.has(name)),
      [],
    )
  }
})

test('a compatibility style at a root has an address or a host name, and those have a style', (t) => {
  const { SERVICE_COMPAT_ROOT, SERVICE_COMPAT_ADDR } = COMPAT
  t.throws(() => configFrom({ SERVICE_COMPAT_ROOT }), {
    message: /^SERVICE_COMPAT_ADDR is missing/,
  })
  for (const place of [{ SERVICE_COMPAT_ADDR }, { SERVICE_COMPAT_HOST: 'push.example.com' }]) {
    t.throws(() => configFrom(place), { message: /^SERVICE_COMPAT_ROOT is missing/ })
  }
})

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

test('a refused secret is not repeated', (t) => {
  const secrets: readonly (readonly [name: string, value: string])[] = [
    ['SERVICE_TOKEN', 'hunter2 hunter2'],
    ['SERVICE_TOKEN', 'hunter2'.repeat(1000)],
    ['SERVICE_DATABASE_URL', 'postgres://user:hunter2@host/db'],
    ['SERVICE_DATABASE_URL', 'mysql://user:hunter2@host/db'],
    ['SERVICE_DATABASE_URL', 'mysqls://user:hunter2@host/db'],
    ['SERVICE_NATS_URL', 'nats://user:hunter2@host:4222'],
    ['SERVICE_NATS_URL', 'http://user:hunter2@host:4222'],
    ['SERVICE_PUBLIC_BASE_URL', 'https://user:hunter2@push.example'],
  ]
  for (const [name, value] of secrets) {
    const error = t.throws(() => configFrom({ [name]: value }))
    t.false(`${error.message} ${error.stack}`.includes('hunter2'), name)
  }
})

test('the settings are frozen, all the way down', (t) => {
  const tls = { SERVICE_HTTP_TLS_CERT: FILE, SERVICE_HTTP_TLS_KEY: FILE }
  const config = configFrom({ ...tls, SERVICE_TRUSTED_PROXIES: '10.0.0.0/8' })
  t.true(Object.isFrozen(config))
  for (const [name, value] of Object.entries(config)) t.true(Object.isFrozen(value), name)
})

test('a .env file is read, and the environment of the process stands above it', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-config-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  t.is(readEnv(directory)['SERVICE_NODE_ID'], process.env['SERVICE_NODE_ID'])

  // PATH is one variable that every process has.
  writeFileSync(
    join(directory, '.env'),
    '# a comment\nSERVICE_NODE_ID="from file"\nSERVICE_LANES=3\nPATH=from-file\n',
  )
  const env = readEnv(directory)
  t.is(env['SERVICE_NODE_ID'], 'from file')
  t.is(configFrom({ ...env, SERVICE_NODE_ID: 'n' }).lanes, 3)
  t.is(env['PATH'], process.env['PATH'])
})
