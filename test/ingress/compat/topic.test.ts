// Goal: what clients of the topic style send arrives as the Message that they mean, and they believe
// that it did. Method: the requests of real clients as bytes, one row each.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { compatibilityStyles } from '#src/ingress/compat/styles'
import { CHANNEL, PASSWORD } from '#test/support/making'
import { undocumented } from '#test/support/documented'
import { rawRequest } from '#test/support/raw-request'
import type { RawAnswer, RawRequest } from '#test/support/raw-request'
import { sentMessages } from '#test/support/sent-message'
import { startIngress } from '#test/support/start-ingress'
import type { Rig, RigOptions } from '#test/support/start-ingress'

const KEY = `${CHANNEL}:${encodeURIComponent(PASSWORD)}`
const AT = `/compat-topic/${KEY}`
const FORM = 'Content-Type: application/x-www-form-urlencoded'
const JSON_TYPE = 'Content-Type: application/json'
const topic = `${CHANNEL}:${PASSWORD}`
const KEPT_MS = 30 * 86_400_000

const start = (t: ExecutionContext, options: RigOptions = {}): Promise<Rig> =>
  startIngress(t, {
    styles: compatibilityStyles({ keptMs: KEPT_MS }),
    ...options,
  })

/** By which a client believes that its message went through. */
const BELIEFS = {
  'status 200': ({ status }: RawAnswer) => status === 200,
  'a JSON answer': ({ status, json }: RawAnswer) => status === 200 && 'id' in json,
  'the word expires': ({ text }: RawAnswer) => text.includes('expires'),
  'an id, or 200': ({ status, json }: RawAnswer) => status === 200 || 'id' in json,
  'id, time, event and topic': ({ json }: RawAnswer) =>
    ['id', 'time', 'event', 'topic'].every((name) => name in json),
} as const

interface Sample extends RawRequest {
  readonly client: string
  readonly belief?: keyof typeof BELIEFS
  readonly fields: Readonly<Record<string, unknown>>
  /** Members of the answer. */
  readonly answer?: Readonly<Record<string, unknown>>
}

const NAMED = { title: 'Notification' }

const SAMPLES: readonly Sample[] = [
  {
    client: 'curl -d',
    line: `POST ${AT}`,
    headers: [FORM],
    body: 'disk 91% full & rising = bad',
    fields: { ...NAMED, body: 'disk 91% full & rising = bad' },
    answer: { message: 'disk 91% full & rising = bad', event: 'message', topic: `${CHANNEL}:***` },
  },
  {
    client: 'curl with headers',
    line: `POST ${AT}`,
    headers: [FORM, 'Title: Disk', 'Priority: urgent', 'Tags: warning,skull'],
    body: 'root volume at 91 %',
    fields: {
      title: 'Disk',
      body: 'root volume at 91 %',
      severity: 'critical',
      tags: ['warning', 'skull'],
      metadata: { 'compat.topic.priority': 5 },
    },
    answer: { title: 'Disk', priority: 5, tags: ['warning', 'skull'] },
  },
  {
    client: 'webhook',
    line: `GET ${AT}/trigger`,
    fields: { ...NAMED, body: 'triggered' },
  },
  {
    client: 'qinglong',
    belief: 'an id, or 200',
    line: `POST ${AT}`,
    headers: [
      'Title: =?utf-8?B?5pyN5Yqh?=',
      'Priority: 3',
      'Icon: https://example.com/i.png',
      'Authorization: Bearer whatever',
    ],
    body: '磁盘已满',
    fields: {
      title: '服务',
      body: '磁盘已满',
      severity: 'normal',
      metadata: {
        'compat.topic.priority': 3,
        'compat.topic.icon': 'https://example.com/i.png',
      },
    },
    answer: { title: '服务', icon: 'https://example.com/i.png' },
  },
  {
    client: 'Apprise',
    line: 'POST /compat-topic/',
    headers: [
      JSON_TYPE,
      'X-Priority: high',
      'X-Tags: a,b',
      'X-Icon: https://example.com/i.png',
      'X-Click: https://example.com/',
      'X-Markdown: yes',
    ],
    body: JSON.stringify({ topic, title: 'T', message: 'M' }),
    fields: {
      title: 'T',
      body: 'M',
      severity: 'high',
      url: 'https://example.com/',
      tags: ['a', 'b'],
      metadata: {
        'compat.topic.priority': 4,
        'compat.topic.markdown': true,
        'compat.topic.icon': 'https://example.com/i.png',
      },
    },
    answer: { content_type: 'text/markdown', click: 'https://example.com/' },
  },
  {
    client: 'Uptime Kuma',
    line: 'POST /compat-topic',
    headers: [JSON_TYPE],
    body: JSON.stringify({
      topic,
      message: 'down',
      priority: 5,
      title: 'web Down [Uptime-Kuma]',
      tags: ['red_circle', `env: ${'p'.repeat(100)}`],
      actions: [{ action: 'view', label: 'Open web', url: 'https://example.com' }],
      icon: 'https://example.com/i.png',
    }),
    fields: {
      title: 'web Down [Uptime-Kuma]',
      body: 'down',
      severity: 'critical',
      tags: ['red_circle', `env: ${'p'.repeat(59)}`],
      metadata: {
        'compat.topic.priority': 5,
        'compat.topic.icon': 'https://example.com/i.png',
        'compat.topic.actions':
          '[{"action":"view","label":"Open web","url":"https://example.com"}]',
      },
    },
  },
  {
    client: 'Healthchecks',
    line: 'POST /compat-topic/',
    headers: [JSON_TYPE, 'Authorization: Bearer whatever'],
    body: JSON.stringify({
      topic,
      title: 'T',
      message: 'M',
      priority: 4,
      tags: ['rotating_light'],
    }),
    fields: {
      title: 'T',
      body: 'M',
      severity: 'high',
      tags: ['rotating_light'],
      metadata: { 'compat.topic.priority': 4 },
    },
  },
  {
    client: 'borgmatic',
    line: `POST ${AT}`,
    headers: ['X-Title: Backup', 'X-Message: done', 'X-Priority: min', 'X-Tags: borgmatic'],
    body: '',
    fields: {
      title: 'Backup',
      body: 'done',
      severity: 'low',
      tags: ['borgmatic'],
      metadata: { 'compat.topic.priority': 1 },
    },
  },
  {
    client: 'shoutrrr',
    belief: 'a JSON answer',
    line: `POST ${AT}/`,
    headers: ['Title: T', 'Priority: Default', 'Tags: x', 'Cache: no', 'Firebase: no'],
    body: 'updated',
    fields: {
      title: 'T',
      body: 'updated',
      severity: 'normal',
      tags: ['x'],
      metadata: {
        'compat.topic.priority': 3,
        'compat.topic.cache': 'no',
        'compat.topic.firebase': 'no',
      },
    },
  },
  {
    client: 'acme.sh',
    belief: 'the word expires',
    line: `POST ${AT}`,
    headers: ['Priority: high', 'Tags: lock', 'Title: acme', 'Authorization: Bearer whatever'],
    body: 'renewed',
    fields: {
      title: 'acme',
      body: 'renewed',
      severity: 'high',
      tags: ['lock'],
      metadata: { 'compat.topic.priority': 4 },
    },
  },
  {
    client: 'browser',
    line: `POST ${AT}`,
    headers: ['Origin: https://example.com', 'Priority: u=1, i'],
    body: 'from a page',
    fields: { ...NAMED, body: 'from a page' },
  },
  {
    client: 'Home Assistant, with a file that was sent as its address',
    belief: 'id, time, event and topic',
    line: `PUT ${AT}`,
    headers: [
      'X-Title: Camera',
      'X-Message: motion',
      'X-Priority: 4',
      'X-Tags: camera,motion',
      'X-Attach: https://example.com/still.png',
      'X-Filename: still.png',
    ],
    body: '',
    fields: {
      title: 'Camera',
      body: 'motion',
      severity: 'high',
      images: ['https://example.com/still.png'],
      tags: ['camera', 'motion'],
      metadata: { 'compat.topic.priority': 4, 'compat.topic.filename': 'still.png' },
    },
    answer: { attachment: { name: 'still.png', url: 'https://example.com/still.png' } },
  },
  {
    client: 'alertmanager-ntfy',
    line: `POST ${AT}`,
    headers: [
      'X-Title: Disk (firing)',
      'X-Tags: rotating_light,severity: page',
      'X-Priority: urgent',
      'X-Click: https://prometheus.example.com/graph?g0.expr=up',
      'X-Actions: view, Silence, https://alerts.example.com/#/silences/new, clear=true',
    ],
    body: 'node 7 has 3 % left',
    fields: {
      title: 'Disk (firing)',
      body: 'node 7 has 3 % left',
      severity: 'critical',
      url: 'https://prometheus.example.com/graph?g0.expr=up',
      tags: ['rotating_light', 'severity: page'],
      metadata: {
        'compat.topic.priority': 5,
        'compat.topic.actions':
          'view, Silence, https://alerts.example.com/#/silences/new, clear=true',
      },
    },
    answer: { click: 'https://prometheus.example.com/graph?g0.expr=up' },
  },
  {
    client: 'the command line of the tool',
    belief: 'a JSON answer',
    line: `POST ${AT}`,
    headers: [
      'X-Title: Build',
      'X-Priority: low',
      'X-Tags: tada',
      'X-Click: https://ci.example.com/7',
      'X-Cache: no',
      'X-Firebase: no',
    ],
    body: 'build 7 passed',
    fields: {
      title: 'Build',
      body: 'build 7 passed',
      severity: 'low',
      url: 'https://ci.example.com/7',
      tags: ['tada'],
      metadata: {
        'compat.topic.priority': 2,
        'compat.topic.cache': 'no',
        'compat.topic.firebase': 'no',
      },
    },
  },
  {
    client: 'Home Assistant',
    belief: 'id, time, event and topic',
    line: `POST ${AT}/garage-door`,
    headers: ['X-Attach: https://example.com/door.jpg?size=1'],
    body: 'open',
    fields: {
      ...NAMED,
      body: 'open',
      images: ['https://example.com/door.jpg?size=1'],
      metadata: { 'compat.topic.sequence_id': 'garage-door' },
    },
    answer: {
      sequence_id: 'garage-door',
      attachment: { name: 'door.jpg', url: 'https://example.com/door.jpg?size=1' },
    },
  },
  {
    client: 'raw UTF-8 in a header',
    line: `PUT ${AT}/send`,
    headers: ['Title: Grüße 🌍 an alle'],
    body: '  text\nof two lines \n',
    fields: { title: 'Grüße 🌍 an alle', body: 'text\nof two lines' },
  },
  {
    client: 'RFC 2047 Q in two words',
    line: `PUT ${AT}/publish`,
    headers: ['t: =?iso-8859-1?Q?Gr=FC=DFe_an?= =?UTF-8?q?_alle?='],
    body: 'x',
    fields: { title: 'Grüße an alle', body: 'x' },
  },
  {
    client: 'everything in the query, with a colon in escapes',
    line: `GET /compat-topic/${CHANNEL}%3A${encodeURIComponent(PASSWORD)}/publish/?message=a%5Cnb+c&title=T&p=2`,
    fields: {
      title: 'T',
      body: 'a\nb c',
      severity: 'low',
      metadata: { 'compat.topic.priority': 2 },
    },
  },
  {
    client: 'UnifiedPush with bytes that are no text',
    line: `POST ${AT}?up=1`,
    body: Buffer.from([0xff, 0x00, 0x01]),
    fields: { ...NAMED, body: '/wAB', metadata: { 'compat.topic.encoding': 'base64' } },
    answer: { encoding: 'base64' },
  },
]

for (const { client, belief = 'status 200', fields, answer = {}, ...request } of SAMPLES) {
  test(`topic style: ${client} sends what it means, and believes so`, async (t) => {
    const rig = await start(t)
    const answered = await rawRequest(rig.port, request)
    t.is(answered.status, 200, answered.text)
    t.true(BELIEFS[belief](answered), answered.text)
    t.is(await undocumented(rig, request, answered), undefined)
    t.deepEqual(sentMessages(rig.sink), [fields])
    t.like(answered.json, { event: 'message', ...answer })
    t.true(answered.headers.includes('referrer-policy: no-referrer'))
    t.true(answered.headers.includes('cache-control: no-store'))
    t.true(answered.headers.includes('access-control-allow-origin: *'))
    t.false(answered.text.includes(PASSWORD))
    t.false(JSON.stringify(rig.logger.lines).includes(PASSWORD))
  })
}

interface Refused extends RawRequest {
  readonly what: string
  readonly http: number
  readonly code: number
}

const WRONG = `/compat-topic/${CHANNEL}:wrong+password`

const REFUSED: readonly Refused[] = [
  { what: 'a wrong key', line: `POST ${WRONG}`, body: 'x', http: 404, code: 40401 },
  {
    what: 'a key of no form',
    line: 'POST /compat-topic/alerts',
    body: 'x',
    http: 404,
    code: 40401,
  },
  {
    what: 'a body beyond the limit',
    line: `POST ${AT}`,
    body: 'x'.repeat(32_769),
    http: 413,
    code: 41303,
  },
  { what: 'an unknown priority', line: `GET ${AT}/send?p=9`, http: 400, code: 40007 },
  { what: 'delayed delivery', line: `GET ${AT}/send?in=30m`, http: 400, code: 40002 },
  { what: 'an email', line: `GET ${AT}/send?email=a@example.com`, http: 400, code: 40001 },
  { what: 'a call', line: `GET ${AT}/send?call=yes`, http: 400, code: 40032 },
  { what: 'a template', line: `GET ${AT}/send?tpl=github`, http: 400, code: 40047 },
  {
    what: 'curl -T, an upload',
    line: `PUT ${AT}`,
    headers: ['Filename: log.txt'],
    body: 'bytes',
    http: 400,
    code: 40014,
  },
  {
    what: 'a file of Home Assistant',
    line: `PUT ${AT}`,
    headers: ['X-Title: Camera', 'X-Message: motion', 'X-Filename: still.png'],
    body: Buffer.from([0x89, 0x50, 0x4e, 0x47]),
    http: 400,
    code: 40014,
  },
  {
    what: 'delayed delivery from the command line of the tool',
    line: `POST ${AT}`,
    headers: ['X-Title: Build', 'X-Delay: 30min'],
    body: 'later',
    http: 400,
    code: 40002,
  },
  {
    what: 'bytes that are no text',
    line: `PUT ${AT}`,
    body: Buffer.of(0xff),
    http: 400,
    code: 40014,
  },
  { what: 'an icon that is no URL', line: `GET ${AT}/send?icon=bell`, http: 400, code: 40021 },
  { what: 'an attachment that is no URL', line: `GET ${AT}/send?a=x`, http: 400, code: 40013 },
  { what: 'actions that are no JSON', line: `GET ${AT}/send?actions=[`, http: 400, code: 40018 },
  { what: 'a bad sequence id', line: `POST ${AT}/a.b`, body: 'x', http: 400, code: 40049 },
  { what: 'JSON that is none', line: 'POST /compat-topic', body: '{', http: 400, code: 40024 },
  {
    what: 'JSON with a wrong type',
    line: 'POST /compat-topic',
    body: JSON.stringify({ topic, priority: 'high' }),
    http: 400,
    code: 40024,
  },
  { what: 'JSON without a topic', line: 'POST /compat-topic', body: '{}', http: 400, code: 40009 },
  { what: 'clearing', line: `PUT ${AT}/door/clear`, body: '', http: 404, code: 40401 },
  { what: 'deleting', line: `DELETE ${AT}/door`, http: 404, code: 40401 },
  { what: 'another method', line: `PATCH ${AT}`, body: '', http: 405, code: 40501 },
]

for (const { what, http, code, ...request } of REFUSED) {
  test(`topic style: ${what} is refused in the tool's shape`, async (t) => {
    const rig = await start(t)
    const answered = await rawRequest(rig.port, request)
    t.is(answered.status, http, answered.text)
    t.like(answered.json, { http, code })
    t.is(typeof answered.json['error'], 'string')
    t.true(answered.headers.includes('referrer-policy: no-referrer'))
    if (answered.status !== 405) t.is(await undocumented(rig, request, answered), undefined)
    t.deepEqual(rig.sink.accepted, [])
    t.false(answered.text.includes(PASSWORD))
  })
}

test('topic style: the questions of clients before a publication are answered', async (t) => {
  const rig = await start(t)
  const preflight = await rawRequest(rig.port, { line: `OPTIONS ${AT}` })
  t.is(preflight.status, 200)
  t.true(preflight.headers.includes('access-control-allow-headers: *'))
  const ask = async (line: string): Promise<object> => (await rawRequest(rig.port, { line })).json
  t.deepEqual(await ask(`GET ${AT}?up=1`), { unifiedpush: { version: 1 } })
  t.deepEqual(await ask('GET /compat-topic/v1/health'), { healthy: true })
  t.deepEqual(await ask(`GET ${AT}/auth`), { success: true })
  t.like(await ask(`GET ${WRONG}/auth`), { code: 40401 })
  t.like(await ask(`GET ${AT}`), { code: 40401 })
})

const TOKENS: readonly (readonly [what: string, headers: readonly string[], query: string])[] = [
  ['Bearer', ['Authorization: Bearer secret'], ''],
  ['the password of Basic', [`Authorization: Basic ${btoa('anybody:secret')}`], ''],
  ['the password of Basic without a user', [`Authorization: Basic ${btoa(':secret')}`], ''],
  [
    '?auth= with Basic',
    [],
    `?auth=${Buffer.from(`Basic ${btoa(':secret')}`).toString('base64url')}`,
  ],
  ['?auth= with Bearer', [], `?auth=${Buffer.from('Bearer secret').toString('base64url')}`],
]

for (const [what, headers, query] of TOKENS) {
  test(`topic style: ${what} carries the gateway token`, async (t) => {
    const rig = await start(t, { token: 'secret' })
    const line = `POST ${AT}${query}`
    t.is((await rawRequest(rig.port, { line, headers, body: 'x' })).status, 200)
    const wrong = headers.map((header) => header.replace(/\S+$/, btoa('a:b')))
    const refused = await rawRequest(rig.port, { line: `POST ${AT}`, headers: wrong, body: 'x' })
    t.like(refused.json, { http: 401, code: 40101 })
  })
}

test('topic style: a budget that is used up is refused in the shape of the tool', async (t) => {
  const rig = await start(t, { passwordBudget: { perAddress: 1, total: 100 } })
  const ask = (): Promise<RawAnswer> => rawRequest(rig.port, { line: `POST ${WRONG}`, body: 'x' })
  t.is((await ask()).status, 404)
  const refused = await ask()
  t.like(refused.json, { http: 429, code: 42901 })
  t.true(refused.headers.includes('retry-after: 60'))
})
