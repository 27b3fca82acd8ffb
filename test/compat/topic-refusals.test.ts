// Goal: the topic style refuses in the shape of the tool, by which its clients tell refusals apart,
// and takes the gateway token from the places where they put it.

import test from 'ava'

import { KEY, TOPIC, WRONG_TOPIC, startStyles } from '#test/support/compatibility-rig'
import { PASSWORD } from '#test/support/making'
import { undocumented } from '#test/support/documented'
import { rawRequest } from '#test/support/raw-request'
import type { RawAnswer, RawRequest } from '#test/support/raw-request'

interface Refused extends RawRequest {
  readonly what: string
  readonly http: number
  readonly code: number
}

const REFUSED: readonly Refused[] = [
  { what: 'a wrong key', line: `POST ${WRONG_TOPIC}`, body: 'x', http: 404, code: 40401 },
  {
    what: 'a key of no form',
    line: 'POST /compat-topic/alerts',
    body: 'x',
    http: 404,
    code: 40401,
  },
  {
    what: 'a body beyond the limit',
    line: `POST ${TOPIC}`,
    body: 'x'.repeat(32_769),
    http: 413,
    code: 41303,
  },
  { what: 'an unknown priority', line: `GET ${TOPIC}/send?p=9`, http: 400, code: 40007 },
  { what: 'a delay in words', line: `GET ${TOPIC}/send?at=tomorrow`, http: 400, code: 40004 },
  { what: 'a delay of a second', line: `GET ${TOPIC}/send?in=1s`, http: 400, code: 40005 },
  { what: 'a delay of 31 days', line: `GET ${TOPIC}/send?delay=31d`, http: 400, code: 40005 },
  { what: 'an email', line: `GET ${TOPIC}/send?email=a@example.com`, http: 400, code: 40001 },
  { what: 'a call', line: `GET ${TOPIC}/send?call=yes`, http: 400, code: 40032 },
  { what: 'a template', line: `GET ${TOPIC}/send?tpl=github`, http: 400, code: 40047 },
  {
    what: 'curl -T, an upload',
    line: `PUT ${TOPIC}`,
    headers: ['Filename: log.txt'],
    body: 'bytes',
    http: 400,
    code: 40014,
  },
  {
    what: 'a file of Home Assistant',
    line: `PUT ${TOPIC}`,
    headers: ['X-Title: Camera', 'X-Message: motion', 'X-Filename: still.png'],
    body: Buffer.from([0x89, 0x50, 0x4e, 0x47]),
    http: 400,
    code: 40014,
  },
  {
    what: 'bytes that are no text',
    line: `PUT ${TOPIC}`,
    body: Buffer.of(0xff),
    http: 400,
    code: 40014,
  },
  {
    what: 'an icon that is no URL',
    line: `GET ${TOPIC}/send?icon=bell`,
    http: 400,
    code: 40021,
  },
  {
    what: 'an attachment that is no URL',
    line: `GET ${TOPIC}/send?a=x`,
    http: 400,
    code: 40013,
  },
  {
    what: 'actions that are no JSON',
    line: `GET ${TOPIC}/send?actions=[`,
    http: 400,
    code: 40018,
  },
  { what: 'a bad sequence id', line: `POST ${TOPIC}/a.b`, body: 'x', http: 400, code: 40049 },
  { what: 'JSON that is none', line: 'POST /compat-topic', body: '{', http: 400, code: 40024 },
  {
    what: 'JSON with a wrong type',
    line: 'POST /compat-topic',
    body: JSON.stringify({ topic: KEY, priority: 'high' }),
    http: 400,
    code: 40024,
  },
  { what: 'JSON without a topic', line: 'POST /compat-topic', body: '{}', http: 400, code: 40009 },
  { what: 'clearing', line: `PUT ${TOPIC}/door/clear`, body: '', http: 404, code: 40401 },
  { what: 'deleting', line: `DELETE ${TOPIC}/door`, http: 404, code: 40401 },
  { what: 'another method', line: `PATCH ${TOPIC}`, body: '', http: 405, code: 40501 },
]

for (const { what, http, code, ...request } of REFUSED) {
  test(`topic style: ${what} is refused in the tool's shape`, async (t) => {
    const rig = await startStyles(t)
    const answered = await rawRequest(rig.port, request)
    t.is(answered.status, http, answered.text)
    t.like(answered.json, { http, code })
    t.regex(String(answered.json['error']), /^(?!.*deliver_at)./)
    t.true(answered.headers.includes('referrer-policy: no-referrer'))
    if (answered.status !== 405) t.is(await undocumented(rig, request, answered), undefined)
    t.deepEqual(rig.sink.accepted, [])
    t.false(answered.text.includes(PASSWORD))
  })
}

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
    const rig = await startStyles(t, { token: 'secret' })
    const line = `POST ${TOPIC}${query}`
    t.is((await rawRequest(rig.port, { line, headers, body: 'x' })).status, 200)
    const wrong = headers.map((header) => header.replace(/\S+$/, btoa('a:b')))
    const refused = await rawRequest(rig.port, {
      line: `POST ${TOPIC}`,
      headers: wrong,
      body: 'x',
    })
    t.like(refused.json, { http: 401, code: 40101 })
  })
}

test('topic style: a budget that is used up is refused in the shape of the tool', async (t) => {
  const rig = await startStyles(t, { passwordBudget: { perAddress: 1, total: 100 } })
  const ask = (): Promise<RawAnswer> =>
    rawRequest(rig.port, { line: `POST ${WRONG_TOPIC}`, body: 'x' })
  t.is((await ask()).status, 404)
  const refused = await ask()
  t.like(refused.json, { http: 429, code: 42901 })
  t.true(refused.headers.includes('retry-after: 60'))
})
