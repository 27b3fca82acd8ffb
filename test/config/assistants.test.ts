// The settings that let AI assistants in.

import test from 'ava'

import { ConfigError, configFrom as configWith } from '#src/config/config'
import type { Config, Env } from '#src/config/config'
import { realRuntime } from '#test/support/real-runtime'

const configFrom = (env: Env): Config => configWith(env, realRuntime)

/** A file that exists, wherever the tests run. */
const FILE = import.meta.filename
const ON = { SERVICE_MCP_ENABLED: 'true' }
const CERTIFICATE = { SERVICE_HTTP_TLS_CERT: FILE, SERVICE_HTTP_TLS_KEY: FILE }
const PUBLIC = { SERVICE_PUBLIC_BASE_URL: 'https://push.example/' }

const baseUrls: readonly (readonly [env: Env, baseUrl: string | undefined])[] = [
  [{}, undefined],
  [{ ...PUBLIC, SERVICE_MCP_ENABLED: 'false' }, undefined],
  [ON, 'http://127.0.0.1:8080'],
  [{ ...ON, SERVICE_HTTP_ADDR: '[::1]:9000' }, 'http://[::1]:9000'],
  [{ ...ON, SERVICE_HTTP_ADDR: 'localhost:80' }, 'http://localhost'],
  [{ ...ON, ...CERTIFICATE, SERVICE_HTTP_ADDR: '127.0.0.2:443' }, 'https://127.0.0.2'],
  [{ ...ON, ...PUBLIC }, 'https://push.example'],
  [{ ...ON, ...PUBLIC, SERVICE_HTTP_ADDR: '0.0.0.0:80' }, 'https://push.example'],
]

for (const [env, baseUrl] of baseUrls) {
  test(`with ${JSON.stringify(env)} assistants know the gateway as ${baseUrl}`, (t) => {
    t.is(configFrom(env).assistants?.baseUrl, baseUrl)
  })
}

test('assistants are not let in below a path of a host', (t) => {
  const env = { ...ON, SERVICE_PUBLIC_BASE_URL: 'https://push.example/p' }
  const message =
    /^SERVICE_MCP_ENABLED is true, and SERVICE_PUBLIC_BASE_URL has a path; allowed: an/
  t.throws(() => configFrom(env), { instanceOf: ConfigError, message })
})

for (const host of ['0.0.0.0', '[::]', '192.168.0.7', 'push.example', '127.0.0.1.example']) {
  test(`assistants are not let in at ${host} without a public https address`, (t) => {
    const env = { ...ON, SERVICE_HTTP_ADDR: `${host}:8080` }
    const message = /^SERVICE_MCP_ENABLED is true, and .*; allowed: an https origin in SERVICE_PUB/
    t.throws(() => configFrom(env), { instanceOf: ConfigError, message })
  })
}

const registrations: readonly (readonly [env: Env, registration: object])[] = [
  [{}, { kind: 'open' }],
  [{ SERVICE_OAUTH_REGISTRATION: 'off' }, { kind: 'off' }],
  [
    { SERVICE_OAUTH_REGISTRATION_TOKEN: 'x'.repeat(16) },
    { kind: 'with-token', token: 'x'.repeat(16) },
  ],
  [
    { SERVICE_OAUTH_REGISTRATION: 'off', SERVICE_OAUTH_REGISTRATION_TOKEN: 'x'.repeat(16) },
    { kind: 'off' },
  ],
]

for (const [env, registration] of registrations) {
  test(`with ${JSON.stringify(env)} clients register: ${JSON.stringify(registration)}`, (t) => {
    t.deepEqual(configFrom({ ...ON, ...env }).assistants?.registration, registration)
  })
}

test('a registration that nobody could use is refused', (t) => {
  for (const [name, value] of [
    ['SERVICE_OAUTH_REGISTRATION', 'maybe'],
    ['SERVICE_OAUTH_REGISTRATION_TOKEN', 'x'.repeat(15)],
    ['SERVICE_OAUTH_REGISTRATION_TOKEN', 'x'.repeat(513)],
    ['SERVICE_OAUTH_REGISTRATION_TOKEN', 'two words and more'],
  ] as const) {
    const error = t.throws(() => configFrom({ ...ON, [name]: value }), { instanceOf: ConfigError })
    t.true(error.message.startsWith(name))
    if (name.endsWith('TOKEN')) t.false(error.message.includes(value))
  }
})
