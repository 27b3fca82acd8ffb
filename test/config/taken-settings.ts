// Settings with values that are taken, limits at the limit. A row: the setting, the value, the part
// of the configuration that it decides, that part's value, and settings that must stand beside it.

import { hasTiers } from '#domain/history/series'
import type { Config, Env } from '#src/config/config'
import {
  APNS,
  APPLE,
  BRIDGE,
  CLUSTER,
  COMPAT,
  DAY_MS,
  FILE,
  HOUR_MS,
  LONG_TOKEN,
  MINUTE_MS,
  MYSQL,
} from '#test/support/config-from'

type Read = (config: Config) => unknown

const root = ({ compatibilityRoot: given }: Config): unknown => [
  given?.style,
  given?.address?.host,
  given?.address?.port,
  given?.hostName,
]
const MCP: Env = { SERVICE_MCP_ENABLED: 'true' }
const registration = ({ assistants }: Config): unknown => assistants?.registration
const NAMED = ['topic', undefined, undefined, 'push.example.com']
const NO_DISPATCH: Env = { SERVICE_ROLES: 'ingress,actors' }
const carriers = (config: Config) => config.privateTransports.carriers
const connections = (config: Config) => config.privateTransports.connections
const PRIVATE_TLS = { SERVICE_PRIVATE_TLS_CERT: FILE, SERVICE_PRIVATE_TLS_KEY: FILE }

const rolesOf: Read = ({ roles }) =>
  Object.entries(roles)
    .flatMap(([role, isOn]) => (isOn ? [role] : []))
    .join(' ')
const apns: Read = ({ providers }) => providers.apns
const fcm: Read = ({ providers }) => providers.fcm
const webpush: Read = ({ providers }) => providers.webpush
const WEB_PUSH = { subject: 'mailto:a@b.example', privateNetworks: [] }
const bridgeUrl: Read = ({ bridge }) => bridge?.url
const manyTopics = (count: number): string => Array(count).fill('a').join(',')
const natsUrl: Read = ({ cluster }) => cluster?.natsUrl
const replicas: Read = ({ cluster }) => cluster?.streamReplicas
const publicUrl: Read = ({ publicBaseUrl }) => publicBaseUrl
const proxies: Read = ({ trustedProxies }) => trustedProxies
const history: Read = ({ historyRetentionMs }) => [
  historyRetentionMs.messagesAndEvents,
  historyRetentionMs.thingUpdates,
]

export const TAKEN: readonly (readonly [
  name: string,
  value: string,
  read: Read,
  expected: unknown,
  beside?: Env,
])[] = [
  ['SERVICE_HTTP_ADDR', '0.0.0.0:80', ({ http }) => http, { host: '0.0.0.0', port: 80 }],
  ['SERVICE_HTTP_ADDR', '[::1]:65535', ({ http }) => http, { host: '::1', port: 65_535 }],
  ['SERVICE_HTTP_ADDR', 'localhost:0', ({ http }) => http, { host: 'localhost', port: 0 }],
  ['SERVICE_CONSOLE', 'off', ({ console: isServed }) => isServed, false],
  ['SERVICE_CONSOLE', 'on', ({ console: isServed }) => isServed, true],
  ['SERVICE_TOKEN', LONG_TOKEN, ({ token }) => token, LONG_TOKEN],
  ['SERVICE_PUBLIC_BASE_URL', 'https://push.example/', publicUrl, 'https://push.example'],
  ['SERVICE_PUBLIC_BASE_URL', 'https://a.example:8443/p/', publicUrl, 'https://a.example:8443/p'],
  ['SERVICE_MCP_ENABLED', 'true', ({ assistants }) => assistants !== undefined, true],
  [
    'SERVICE_OAUTH_PAGES',
    'token',
    ({ assistants }) => assistants?.pages,
    'token',
    { ...MCP, SERVICE_TOKEN: 'x' },
  ],
  ['SERVICE_OAUTH_REGISTRATION', 'off', registration, { kind: 'off' }, MCP],
  [
    'SERVICE_OAUTH_REGISTRATION_TOKEN',
    'x'.repeat(512),
    registration,
    { kind: 'with-token', token: 'x'.repeat(512) },
    MCP,
  ],
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
  [
    'SERVICE_MQTT_BRIDGE_URL',
    'mqtts://user:p%40ss@broker:8883',
    bridgeUrl,
    'mqtts://user:p%40ss@broker:8883',
    BRIDGE,
  ],
  [
    'SERVICE_MQTT_BRIDGE_TOPICS',
    'a/+/b, #',
    ({ bridge }) => bridge?.topics,
    ['a/+/b', '#'],
    BRIDGE,
  ],
  [
    'SERVICE_MQTT_BRIDGE_TOPICS',
    manyTopics(100),
    ({ bridge }) => bridge?.topics.length,
    100,
    BRIDGE,
  ],
  [
    'SERVICE_MQTT_BRIDGE_KEY_FILE',
    BRIDGE.SERVICE_MQTT_BRIDGE_KEY_FILE,
    ({ bridge }) => bridge?.key,
    'k'.repeat(43),
    BRIDGE,
  ],
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
  ['SERVICE_WEBPUSH_SUBJECT', 'mailto:a@b.example', webpush, { ...WEB_PUSH, baseUrl: '' }],
  [
    'SERVICE_WEBPUSH_SUBJECT',
    'https://a.example/contact',
    (config) => config.providers.webpush?.subject,
    'https://a.example/contact',
  ],
  [
    'SERVICE_WEBPUSH_PRIVATE_NETWORKS',
    '10.0.0.0/8, fd00::1',
    (config) => config.providers.webpush?.privateNetworks,
    ['10.0.0.0/8', 'fd00::1'],
    { SERVICE_WEBPUSH_SUBJECT: 'mailto:a@b.example' },
  ],
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
  ['SERVICE_MQTT_ADDR', '0.0.0.0:1883', ({ mqtt }) => mqtt.plain?.port, 1883],
  ['SERVICE_MQTT_TLS_ADDR', '[::]:8883', ({ mqtt }) => mqtt.tls?.host, '::', PRIVATE_TLS],
  ['SERVICE_MQTT_WS', 'true', ({ mqtt }) => mqtt.overWebSocket, true],
  ['SERVICE_PRIVATE_CONNECTIONS', '1', connections, { total: 1, perAddress: 20_000 }],
  [
    'SERVICE_PRIVATE_CONNECTIONS_PER_ADDRESS',
    '10000000',
    connections,
    { total: 100_000, perAddress: 10_000_000 },
  ],
  ['SERVICE_STATUS_RETENTION', '1m', ({ statusRetentionMs }) => statusRetentionMs, MINUTE_MS],
  ['SERVICE_STATUS_RETENTION', '1h', ({ recordsUpdates }) => recordsUpdates, true],
  ['SERVICE_STATUS_RETENTION', '1h, none', ({ recordsUpdates }) => recordsUpdates, false],
  ['SERVICE_STATUS_RETENTION', '1h,none', ({ statusRetentionMs }) => statusRetentionMs, HOUR_MS],
  ['SERVICE_STATUS_RETENTION', '366d', ({ statusRetentionMs }) => statusRetentionMs, 366 * DAY_MS],
  ['SERVICE_STATUS_RETENTION', '60000ms', ({ statusRetentionMs }) => statusRetentionMs, MINUTE_MS],
  ['SERVICE_DEVICE_RETENTION', '1d', ({ deviceRetentionMs }) => deviceRetentionMs, DAY_MS],
  ['SERVICE_HISTORY_RETENTION', '2d', history, [2 * DAY_MS, 2 * DAY_MS]],
  ['SERVICE_HISTORY_RETENTION', '60d, 12h', history, [60 * DAY_MS, 12 * HOUR_MS]],
  [
    'SERVICE_TIER_RETENTION',
    '1h:1d, 5m:7305d',
    ({ tierRetentionMs }) => [tierRetentionMs['5m'], tierRetentionMs['1h'], tierRetentionMs['1d']],
    [7_305 * DAY_MS, DAY_MS, 0],
  ],
  ['SERVICE_TIER_RETENTION', 'off', ({ tierRetentionMs }) => hasTiers(tierRetentionMs), false],
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
  ['SERVICE_COMMON_PASSWORDS', 'refused', (config) => config.commonPasswords, 'refused'],
  ['SERVICE_DEVICE_BUDGET_PER_ADDRESS', '100000', (config) => config.deviceBudgetPerAddress, 1e5],
  ['SERVICE_PASSWORD_BUDGET_TOTAL', '1000000', ({ passwordBudget }) => passwordBudget.total, 1e6],
]
