// Goal: a command line becomes the request that was meant, and its answer something to read.
// Method: run whole command lines against a recorded fetch, one row each.

import test from 'ava'

import { success } from '#test/support/fake-surroundings'
import type { FakeOptions } from '#test/support/fake-surroundings'
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
]

test('a command line becomes the request that was meant', async (t) => {
  for (const [words, path, body] of rows) {
    const { surroundings, exitCode } = await run(words)
    t.is(exitCode, 0, words)
    t.is(surroundings.requests.length, 1, words)
    const [request] = surroundings.requests
    t.is(request?.url, `http://127.0.0.1:8080${path}`, words)
    t.deepEqual(request?.body, { ...credentials, ...body }, words)
  }
})

test('a message without an op_id gets one, so that it can be repeated safely', async (t) => {
  const opIds = []
  for (const words of ['send --title t', 'send --title t']) {
    const { surroundings } = await run(words)
    opIds.push(JSON.stringify(surroundings.requests[0]?.body))
  }
  t.regex(opIds[0] ?? '', /"op_id":"[0-9a-f-]{36}"/)
  t.not(opIds[0], opIds[1])
})

test('answers are lines for people and one JSON object for machines', async (t) => {
  const record = { op_id: 'o1', status: 'sent', accepted_at: NOW }
  const answer = () => success(record)
  const people = await run('status o1', { answer })
  t.is(people.surroundings.requests[0]?.url, 'http://127.0.0.1:8080/send_status/o1')
  t.deepEqual(people.surroundings.printed, [
    'op_id        o1',
    'status       sent',
    'accepted_at  2023-11-14T22:13:20.000Z',
  ])
  for (const words of ['status o1 --json', '--json status o1']) {
    const machines = await run(words, { answer })
    t.deepEqual(machines.surroundings.printed, [JSON.stringify(record)])
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

test('options of the command win over those in front, those over the environment', async (t) => {
  for (const [words, env, url, token] of connections) {
    const { surroundings } = await run(words, { env: env ?? {} })
    const [request] = surroundings.requests
    t.is(request?.url, url, words)
    t.is(request?.authorization, token === undefined ? undefined : `Bearer ${token}`, words)
  }
})

test('the link of a message is not its gateway', async (t) => {
  const { surroundings } = await run(
    'send --title t --url http://b.example --link https://l.example',
  )
  t.is(surroundings.requests[0]?.url, 'http://b.example/message')
  t.like(surroundings.requests[0]?.body, { url: 'https://l.example' })
})

test('a channel gets a strong password that is shown once, or the chosen one, not', async (t) => {
  const answer = () => success({ channel_id: CHANNEL, channel_name: 'Home' })
  const made = await run('channel create Home', { env: {}, answer })
  const [, password] = /^password +(\S{24})$/m.exec(made.surroundings.shown) ?? []
  t.truthy(password)
  t.deepEqual(made.surroundings.requests[0]?.body, { channel_name: 'Home', password })
  for (const [words, env] of [
    [`channel create Home --password ${PASSWORD}`, {}],
    ['channel create Home', ENV],
  ] as const) {
    const { surroundings } = await run(words, { env, answer })
    t.like(surroundings.requests[0]?.body, { password: PASSWORD })
    t.notRegex(surroundings.shown, new RegExp(PASSWORD))
  }
})

test('help ends with 0 and goes to the results', async (t) => {
  for (const words of ['--help', 'send --help', 'help thing']) {
    const { surroundings, exitCode } = await run(words)
    t.is(exitCode, 0, words)
    t.regex(surroundings.printed.join('\n'), /^Usage: heliograph/, words)
  }
})

test('serve runs the gateway on the same environment and ends with its exit code', async (t) => {
  const { surroundings, exitCode } = await run('serve')
  t.is(exitCode, 78)
  t.deepEqual(surroundings.served, [ENV])
})

test('secrets travel in the body and the header, never in an address', async (t) => {
  for (const [words] of rows) {
    const { surroundings } = await run(`--token ${TOKEN} ${words}`)
    const [request] = surroundings.requests
    t.notRegex(request?.url ?? '', new RegExp(`${PASSWORD}|${TOKEN}|other-secret`), words)
    t.is(request?.authorization, `Bearer ${TOKEN}`, words)
  }
})
