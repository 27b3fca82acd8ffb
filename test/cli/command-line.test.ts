// Goal: a command line sends the request that its user means, and shows the answer.
// Method: run whole command lines against a recorded fetch, one row each.

import test from 'ava'

import { success } from '#test/support/fake-process-context'
import type { FakeOptions } from '#test/support/fake-process-context'
import { CHANNEL, PASSWORD, TOKEN, ENV, run } from '#test/support/command-line'

const NOW = 1_700_000_000_000

const credentials = { channel_id: CHANNEL, password: PASSWORD }

const rows: [words: string, path: string, body: Readonly<Record<string, unknown>>][] = [
  [
    "send --title 'Frost tonight' --severity high --tag a --tag b --link https://x.io --op-id o1",
    '/message',
    {
      title: 'Frost tonight',
      severity: 'high',
      tags: ['a', 'b'],
      url: 'https://x.io',
      op_id: 'o1',
    },
  ],
  [
    "send 'Frost tonight' --op-id o --delay 10s",
    '/message',
    { title: 'Frost tonight', op_id: 'o', delay: '10s' },
  ],
  [
    'send Frost tonight --severity high at 3 --op-id o',
    '/message',
    { title: 'Frost tonight at 3', op_id: 'o', severity: 'high' },
  ],
  [
    'send --title t --op-id o --thing boiler --metadata n=1 --metadata s=x --metadata o={}',
    '/message',
    {
      title: 't',
      op_id: 'o',
      thing_id: 'boiler',
      occurred_at: NOW,
      metadata: { n: 1, s: 'x', o: '{}' },
    },
  ],
  [
    'send --title t --op-id o --occurred-at 1600000000',
    '/message',
    { title: 't', op_id: 'o', occurred_at: 1_600_000_000 },
  ],
  [
    'thing update boiler temperature=21.5 mode=eco fan=null --observed-at 2023-11-14T00:00:00Z',
    '/thing/update',
    {
      thing_id: 'boiler',
      observed_at: Date.UTC(2023, 10, 14),
      attrs: { temperature: 21.5, mode: 'eco', fan: null },
    },
  ],
  [
    'thing create on=true --title T --external-id crm=1 --external-id old=null',
    '/thing/create',
    { observed_at: NOW, title: 'T', external_ids: { crm: '1', old: null }, attrs: { on: true } },
  ],
  ['thing archive boiler', '/thing/archive', { thing_id: 'boiler', observed_at: NOW }],
  [
    'thing update boiler --metadata site=1 --primary-image https://x.io/a --location-type geo',
    '/thing/update',
    {
      thing_id: 'boiler',
      observed_at: NOW,
      metadata: { site: 1 },
      primary_image: 'https://x.io/a',
      location_type: 'geo',
    },
  ],
  [
    'thing delete boiler --deleted-at 5',
    '/thing/delete',
    { thing_id: 'boiler', observed_at: NOW, deleted_at: 5 },
  ],
  ['thing get boiler', '/thing/get', { thing_id: 'boiler' }],
  [
    'event create --title E --thing boiler --started-at 7 a=1',
    '/event/create',
    { event_time: NOW, title: 'E', thing_id: 'boiler', started_at: 7, attrs: { a: 1 } },
  ],
  [
    'event update e1 --status going',
    '/event/update',
    { event_id: 'e1', event_time: NOW, status: 'going' },
  ],
  [
    'event update e1 --remind-every 10m --escalate 5m:1 --escalate 30m:2:critical',
    '/event/update',
    {
      event_id: 'e1',
      event_time: NOW,
      remind_every: '10m',
      escalate: [
        { after: '5m', level: 1 },
        { after: '30m', level: 2, severity: 'critical' },
      ],
    },
  ],
  [
    "event update e1 --remind-every '' --escalate none",
    '/event/update',
    { event_id: 'e1', event_time: NOW, remind_every: '', escalate: null },
  ],
  [
    'event close e1 --ended-at 9 --event-time 8',
    '/event/close',
    { event_id: 'e1', event_time: 8, ended_at: 9 },
  ],
  ['channel info', '/channel/info', {}],
  ["channel rename 'New name'", '/channel/rename', { channel_name: 'New name' }],
  [
    'channel password --new-password other-secret',
    '/channel/password',
    { new_password: 'other-secret' },
  ],
  ['channel delete --yes', '/channel/delete', {}],
  ['key create --label l', '/channel/key', { label: 'l' }],
  ['key create --expires 90d', '/channel/key', { expires_at: NOW + 90 * 86_400_000 }],
  ['key create --expires 2027-01-01', '/channel/key', { expires_at: Date.UTC(2027, 0, 1) }],
  ['key create --expires 1830297600', '/channel/key', { expires_at: 1_830_297_600 }],
  ['key revoke k1', '/channel/key/revoke', { key_id: 'k1' }],
  ['subscriber remove s1', '/channel/subscriber/remove', { subscriber_id: 's1' }],
]

test('a command line sends the request that its user means', async (t) => {
  for (const [words, path, body] of rows) {
    const { context, exitCode } = await run(words)
    t.is(exitCode, 0, words)
    const [request, ...others] = context.requests.toSorted(
      (a, b) => Number(b.url.endsWith(path)) - Number(a.url.endsWith(path)),
    )
    // A change may ask first whether there is something to end, and then what came of it.
    for (const { url } of others) t.regex(url, /\/(thing\/get|event\/get|send_status\/op)$/, words)
    t.is(request?.url, `http://127.0.0.1:8080${path}`, words)
    t.deepEqual(request?.body, { ...credentials, ...body }, words)
  }
})

test('send adds an op_id where none is given, so that a repeat is safe', async (t) => {
  const opIds = []
  for (const words of ['send --title t', 'send --title t']) {
    const { context } = await run(words)
    opIds.push(JSON.stringify(context.requests[0]?.body))
  }
  t.regex(opIds[0] ?? '', /"op_id":"[0-9a-f-]{36}"/)
  t.not(opIds[0], opIds[1])
})

test('answers are lines for people, and with --json one JSON object', async (t) => {
  const record = { op_id: 'o1', status: 'sent', accepted_at: NOW }
  const answer = () => success(record)
  const people = await run('status o1', { answer })
  t.is(people.context.requests[0]?.url, 'http://127.0.0.1:8080/send_status/o1')
  t.deepEqual(people.context.printed, [
    'op_id        o1',
    'status       sent',
    'accepted_at  2023-11-14T22:13:20.000Z',
  ])
  for (const words of ['status o1 --json', '--json status o1']) {
    const machines = await run(words, { answer })
    t.deepEqual(machines.context.printed, [JSON.stringify(record)])
  }
})

const connections: [words: string, env: FakeOptions['env'], url: string, token?: string][] = [
  ['status o', {}, 'http://127.0.0.1:8080/send_status/o'],
  ['status o', { HELIOGRAPH_URL: 'https://a.example/p/' }, 'https://a.example/p/send_status/o'],
  [
    '--url http://b.example status o',
    { HELIOGRAPH_URL: 'https://a.example' },
    'http://b.example/send_status/o',
  ],
  ['--url http://b.example status o --url http://c.example', {}, 'http://c.example/send_status/o'],
  ['status o', { HELIOGRAPH_TOKEN: ' t1 ' }, 'http://127.0.0.1:8080/send_status/o', 't1'],
  ['status o --token t2', { HELIOGRAPH_TOKEN: 't1' }, 'http://127.0.0.1:8080/send_status/o', 't2'],
  ['--token t3 status o', {}, 'http://127.0.0.1:8080/send_status/o', 't3'],
  ['status o', { HELIOGRAPH_TOKEN: '  ' }, 'http://127.0.0.1:8080/send_status/o'],
]

test('options behind the command win over those in front, and these over the environment', async (t) => {
  for (const [words, env, url, token] of connections) {
    const { context } = await run(words, { env: env ?? {} })
    const [request] = context.requests
    t.is(request?.url, url, words)
    t.is(request?.authorization, token === undefined ? undefined : `Bearer ${token}`, words)
  }
})

test('the link of a message is not its gateway', async (t) => {
  const { context } = await run('send --title t --url https://b.example --link https://l.example')
  t.is(context.requests[0]?.url, 'https://b.example/message')
  t.like(context.requests[0]?.body, { url: 'https://l.example' })
})

test('channel create shows a password that it made, and never a chosen one', async (t) => {
  const answer = () => success({ channel_id: CHANNEL, channel_name: 'Home' })
  const made = await run('channel create Home', { env: {}, answer })
  const [, password] = /^password +(\S{24})$/m.exec(made.context.shown) ?? []
  t.truthy(password)
  t.deepEqual(made.context.requests[0]?.body, { channel_name: 'Home', password })
  for (const [words, env] of [
    [`channel create Home --password ${PASSWORD}`, {}],
    ['channel create Home', ENV],
  ] as const) {
    const { context } = await run(words, { env, answer })
    t.like(context.requests[0]?.body, { password: PASSWORD })
    t.notRegex(context.shown, new RegExp(PASSWORD))
  }
})

test('a chosen password that strangers try first is taken with a warning', async (t) => {
  const answer = () => success({ channel_id: CHANNEL, channel_name: 'Home' })
  for (const [chosen, warns] of [
    ['iloveyou', true],
    [PASSWORD, false],
  ] as const) {
    for (const words of ['create Home --password', 'password --new-password']) {
      const { context, exitCode } = await run(`channel ${words} ${chosen}`, { answer })
      t.is(exitCode, 0)
      t.is(/most common passwords/.test(context.diagnostics.join()), warns, words)
      t.notRegex(context.shown, new RegExp(chosen))
    }
  }
})

test('help ends with 0 and prints to the standard output', async (t) => {
  for (const words of ['--help', 'send --help', 'help thing']) {
    const { context, exitCode } = await run(words)
    t.is(exitCode, 0, words)
    t.regex(context.printed.join('\n'), /^Usage: heliograph/, words)
  }
})

test('serve runs the gateway on the same environment and ends with its exit code', async (t) => {
  const { context, exitCode } = await run('serve')
  t.is(exitCode, 78)
  t.deepEqual(context.served, [ENV])
})

test('secrets travel in the body and the header, never in an address', async (t) => {
  for (const [words] of rows) {
    const { context } = await run(`--token ${TOKEN} ${words}`)
    const [request] = context.requests
    t.notRegex(request?.url ?? '', new RegExp(`${PASSWORD}|${TOKEN}|other-secret`), words)
    t.is(request?.authorization, `Bearer ${TOKEN}`, words)
  }
})

test('subscriber list lists the devices of a channel', async (t) => {
  const facts = { platform: 'web', channel_type: 'webpush', last_seen_on: '1970-01-02' }
  const listed = { subscriber_id: 's1', subscribed_at: 0, ...facts }
  const list = await run('subscriber list', { answer: () => success({ subscribers: [listed] }) })
  t.deepEqual(list.context.printed, ['s1\t1970-01-01T00:00:00.000Z\t1970-01-02\tweb\twebpush\t'])
})

test('key create refuses an end that is over, as of a number without a unit', async (t) => {
  for (const expires of [
    '90',
    '0',
    '2020-01-01',
    `${NOW}`,
    `${NOW / 1000}`,
    '0d',
    '9999999d',
    '999999999999999',
  ]) {
    const { context, exitCode } = await run(`key create --expires ${expires}`)
    t.deepEqual([exitCode, context.requests.length], [2, 0], expires)
    t.regex(context.shown, /--expires: .*90d/, expires)
  }
})

test('key list lists the keys of a channel, and key create shows the new one', async (t) => {
  const listed = { key_id: 'k1', label: 'backup', scopes: ['send'], created_at: 0 }
  const list = await run('key list', { answer: () => success({ keys: [listed] }) })
  t.deepEqual(list.context.printed, [
    'k1\t1970-01-01T00:00:00.000Z\tnever\tnever\tsend\tall\tbackup',
  ])
  const made = await run('key create', { answer: () => success({ key: 'abc', ...listed }) })
  t.regex(made.context.shown, /^key +abc$/m)
})
