// Goal: the settings as a whole: defaults, settings that need each other, secrets, the .env file.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import test from 'ava'

import { gatewayEnvironment } from '#src/config/environment'
import { CLUSTER, COMPAT, DAY_MS, FILE, HOUR_MS, configFrom } from '#test/support/config-from'

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
    bridge: undefined,
    privateTransports: {
      carriers: ['wss'],
      tcp: { host: '127.0.0.1', port: 5223, publicPort: undefined, isPlain: false },
      quic: { host: '127.0.0.1', port: 5223, publicPort: undefined },
      tls: undefined,
      connections: { total: 100_000, perAddress: 20_000 },
    },
    mqtt: { plain: undefined, tls: undefined, overWebSocket: false },
    statusRetentionMs: 7 * DAY_MS,
    recordsUpdates: true,
    tierRetentionMs: { '5m': 7 * DAY_MS, '1h': 400 * DAY_MS, '1d': 3_650 * DAY_MS },
    historyRetentionMs: { messagesAndEvents: 30 * DAY_MS, thingUpdates: DAY_MS },
    deviceRetentionMs: 90 * DAY_MS,
    logKeepMs: HOUR_MS,
    logBytesMax: 2 ** 30,
    drainTimeoutMs: 20_000,
    logLevel: 'info',
    passwordBudget: { perAddress: 60, total: 1200 },
    commonPasswords: 'warned',
    console: true,
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

test('a cluster has sixteen lanes to share out by default', (t) => {
  t.is(configFrom(CLUSTER).lanes, 16)
  t.is(configFrom({ ...CLUSTER, SERVICE_LANES: '5' }).lanes, 5)
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
  t.is(gatewayEnvironment(process.env, directory), process.env)

  // PATH is one variable that every process has.
  writeFileSync(
    join(directory, '.env'),
    '# a comment\nSERVICE_NODE_ID="from file"\nSERVICE_LANES=3\nPATH=from-file\n',
  )
  const env = gatewayEnvironment(process.env, directory)
  t.is(env['SERVICE_NODE_ID'], 'from file')
  t.is(configFrom({ ...env, SERVICE_NODE_ID: 'n' }).lanes, 3)
  t.is(env['PATH'], process.env['PATH'])
})
