// Goal: each command about devices sends the requests that its user means.
// Method: run whole command lines against a recorded fetch; the key is in a folder of the test.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { thisPlatform } from '#src/cli/this-device'
import { refusal, success } from '#test/support/fake-process-context'
import type { FakeAnswer } from '#test/support/fake-process-context'
import { CHANNEL, ENV, PASSWORD, run } from '#test/support/command-line'

const KEY = 'ab'.repeat(16)
const OTHER_CHANNEL = `1${CHANNEL.slice(1)}`
const PROVIDER_TOKEN = 'cd'.repeat(32)

function filesOf(t: ExecutionContext): { readonly key: string; readonly token: string } {
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const files = { key: join(folder, 'device.key'), token: join(folder, 'token') }
  writeFileSync(files.key, `${KEY}\n`)
  writeFileSync(files.token, `${PROVIDER_TOKEN}\n`)
  return files
}

const entryOf = (seq: number) => ({
  delivery_id: `d-${seq}`,
  channel_id: CHANNEL,
  seq,
  op_id: 'op',
  model: 'message',
  action: 'send',
  entity_id: 'm',
  accepted_at: 0,
  payload: { title: `Title ${seq}` },
})

interface Row {
  readonly words: string
  readonly answer?: FakeAnswer
  readonly requests: readonly (readonly [path: string, body: object])[]
  readonly printed: readonly string[]
  readonly diagnostics?: readonly string[]
  readonly exitCode?: number
}

const device_key = KEY
const two = success({ items: [entryOf(1), entryOf(2)], has_more: true })
const PULL: Row['requests'][number] = ['/messages/pull', { device_key }]
const channels = [CHANNEL, OTHER_CHANNEL].map((id) => ({ channel_id: id, password: PASSWORD }))
const synced = [
  { channel_id: CHANNEL, channel_name: 'Home', subscribed: true },
  { channel_id: OTHER_CHANNEL, subscribed: false, error_code: 'channel_not_found' },
]

const rows: readonly Row[] = [
  {
    words: "pull --format '{delivery_id} {title}'",
    answer: two,
    requests: [PULL],
    printed: ['d-1 Title 1', 'd-2 Title 2'],
    diagnostics: ['there is more: pull again with --ack'],
  },
  {
    words: 'pull --ack --limit 2 --json',
    answer: two,
    requests: [
      ['/messages/pull', { device_key, limit: 2 }],
      ['/messages/ack', { device_key, delivery_ids: ['d-1', 'd-2'] }],
    ],
    printed: [1, 2].map((seq) => JSON.stringify(entryOf(seq))),
    diagnostics: ['there is more: pull again'],
  },
  {
    words: 'pull --ack',
    answer: success({ items: [], has_more: false }),
    requests: [PULL],
    printed: [],
    diagnostics: ['none'],
  },
  {
    words: 'ack d-1 d-2 --json',
    answer: success({ requested_count: 2, removed_count: 1 }),
    requests: [['/messages/ack', { device_key, delivery_ids: ['d-1', 'd-2'] }]],
    printed: ['{"requested_count":2,"removed_count":1}'],
  },
  {
    words: `channel sync --channel ${CHANNEL} --channel ${OTHER_CHANNEL} --json`,
    answer: success({ device_key, channels: synced, failed: 1 }),
    requests: [
      ['/device/register', { device_key, platform: thisPlatform() }],
      ['/channel/sync', { device_key, channels }],
    ],
    printed: synced.map((one) => JSON.stringify(one)),
    exitCode: 1,
  },
  {
    words: 'device register --json',
    answer: success({ device_key, issued_new_key: false }),
    requests: [['/device/register', { device_key, platform: thisPlatform() }]],
    printed: [`{"platform":"${thisPlatform()}","issued_new_key":false}`],
  },
  {
    words: 'device route apns --provider-token-file TOKEN --json',
    answer: success({ device_key, channel_type: 'apns', provider_token: PROVIDER_TOKEN }),
    requests: [
      ['/channel/device', { device_key, channel_type: 'apns', provider_token: PROVIDER_TOKEN }],
    ],
    printed: ['{"channel_type":"apns"}'],
  },
  {
    words: 'device route private',
    answer: success({ device_key, channel_type: 'private' }),
    requests: [['/channel/device', { device_key, channel_type: 'private' }]],
    printed: ['channel_type  private'],
  },
]

test('each command line about a device sends the requests that its user means', async (t) => {
  for (const { words, answer, requests, printed, diagnostics = [], exitCode = 0 } of rows) {
    const { key, token } = filesOf(t)
    const line = `${words.replace('TOKEN', token)} --device-key-file ${key}`
    const ended = await run(line, { ...(answer && { answer: () => answer }) })
    const { context } = ended
    t.is(ended.exitCode, exitCode, words)
    t.deepEqual(
      context.requests.map(({ url, body }) => [new URL(url).pathname, body]),
      requests.map(([path, body]) => [path, body]),
      words,
    )
    t.deepEqual(context.printed, printed, words)
    t.deepEqual(context.diagnostics, diagnostics, words)
    t.false(context.shown.includes(KEY), words)
    t.false(context.shown.includes(PROVIDER_TOKEN), words)
  }
})

test('device retire-token sends the token in the body and does not show it', async (t) => {
  const { token } = filesOf(t)
  const words = `device retire-token --platform android --provider-token-file ${token}`
  const { context, exitCode } = await run(words, { answer: () => success({ retired: true }) })
  t.is(exitCode, 0)
  t.deepEqual(context.requests[0]?.body, {
    platform: 'android',
    provider_token: PROVIDER_TOKEN,
  })
  t.deepEqual(context.printed, ['retired  true'])
})

test('pull acknowledges a delivery only after it has printed its line', async (t) => {
  const { key } = filesOf(t)
  const broken = { ...entryOf(2), channel_id: 'no id' }
  const answer = () => success({ items: [entryOf(1), broken], has_more: false })
  const ended = await run(`pull --ack --device-key-file ${key}`, { answer })
  t.is(ended.exitCode, 1)
  t.is(ended.context.requests.length, 1)
})

test('wrong usage about a device sends no request', async (t) => {
  const { key } = filesOf(t)
  for (const words of [
    `pull --limit 201 --device-key-file ${key}`,
    `ack --device-key-file ${key}`,
    `ack ${'d '.repeat(201)} --device-key-file ${key}`,
    `pull --device-key-file ${key}.missing`,
    'device register --platform ios',
    `device route mail --device-key-file ${key}`,
    `device route fcm --device-key-file ${key}`,
    'device retire-token --platform ios',
  ]) {
    const { context, exitCode } = await run(words, { env: { ...ENV, XDG_STATE_HOME: key } })
    t.is(exitCode, 2, words)
    t.deepEqual(context.requests, [], words)
  }
  const none = await run(`channel sync --device-key-file ${key}`, { env: {} })
  t.is(none.exitCode, 2)
  t.deepEqual(none.context.requests, [])
})

test('the key file keeps the platform of a device of another platform', async (t) => {
  const { key } = filesOf(t)
  const answer = () => success({ device_key, issued_new_key: true })
  const phone = `--device-key-file ${key}.phone`
  t.is((await run(`device register --platform ios ${phone}`, { answer })).exitCode, 0)
  for (const words of ['device register', 'device register --platform ios']) {
    const again = await run(`${words} ${phone} --json`, { answer })
    t.deepEqual(again.context.printed, ['{"platform":"ios","issued_new_key":false}'])
    t.deepEqual(again.context.requests[0]?.body, { device_key, platform: 'ios' })
  }
  const subscribed = await run(`channel subscribe ${phone}`, { answer })
  t.deepEqual(subscribed.context.requests[0]?.body, { device_key, platform: 'ios' })
  t.is((await run(`device register --platform ios --device-key-file ${key}`)).exitCode, 2)
  t.is(readFileSync(key, 'utf8').trim(), KEY)
})

test('a refusal of the gateway leaves no key file', async (t) => {
  const { key } = filesOf(t)
  const refused = await run(`device register --device-key-file ${key}.new`, {
    answer: () => refusal(503, 'server_busy'),
  })
  t.not(refused.exitCode, 0)
  t.false(existsSync(`${key}.new`))
})

test('device list shows the devices whose keys this computer keeps, and no key', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const env = { ...ENV, XDG_STATE_HOME: folder }
  t.deepEqual((await run('device list', { env })).context.diagnostics, ['none'])
  const answer = () => success({ device_key: KEY })
  await run('device register --url https://a.example', { env, answer })
  const { context } = await run('device list --header', { env })
  t.is(context.printed[0], 'PLATFORM\tKEY FILE')
  t.regex(
    context.printed[1] ?? '',
    new RegExp(`^${thisPlatform()}\t${folder}/heliograph/a.example-`),
  )
  t.is(context.printed.length, 2)
  t.deepEqual(context.requests, [])
  t.false(context.shown.includes(KEY))
})
