// Goal: every setting takes what it documents, and names what is wrong with everything else.

import test from 'ava'

import { ConfigError } from '#src/config/config'
import { settingNames, unknownSettings } from '#src/config/unknown-settings'
import { configFrom } from '#test/support/config-from'
import { REFUSED } from './refused-settings.ts'
import { TAKEN } from './taken-settings.ts'

for (const [name, value, read, expected, beside] of TAKEN) {
  test(`${name}=${value.slice(0, 40)} (${value.length} characters) is taken`, (t) => {
    t.deepEqual(read(configFrom({ ...beside, [name]: value })), expected)
  })
}

for (const [name, value, allowed, beside] of REFUSED) {
  test(`${name}=${value.slice(0, 40)} (${value.length} characters) stops the start`, (t) => {
    const env = { ...beside, [name]: value }
    const error = t.throws(() => configFrom(env), { instanceOf: ConfigError })
    t.regex(error.message, new RegExp(`^${name} [^;]+; allowed: .+`))
    t.regex(error.message, allowed)
  })
}

test('every setting that the code reads has a row of each kind here', (t) => {
  const tls = ['HTTP', 'PRIVATE'].flatMap((of) => [
    `SERVICE_${of}_TLS_CERT`,
    `SERVICE_${of}_TLS_KEY`,
  ])
  tls.push('SERVICE_DATABASE_CA_FILE', 'SERVICE_NATS_CA_FILE')
  for (const rows of [TAKEN, REFUSED]) {
    const named = new Set([...rows.map(([name]) => name), ...tls])
    t.deepEqual(
      [...settingNames()].filter((name) => !named.has(name)),
      [],
    )
  }
})

test('a mistyped setting is found by its name, and its value stays out of it', (t) => {
  const env = { SERVICE_TOKN: 'secret', SERVICE_TOKEN: 'secret', PATH: '/bin' }
  t.deepEqual(unknownSettings(env), ['SERVICE_TOKN'])
})
