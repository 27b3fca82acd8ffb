// Goal: what clients of the send-key style send arrives as the Message that they mean, and they
// believe that it did. Method: the requests of real clients as bytes, one row each.

import test from 'ava'

import { isRecord } from '#domain/record'
import {
  FORM_TYPE,
  JSON_TYPE,
  PATH_KEY,
  keptBy,
  startStyles,
} from '#test/support/compatibility-rig'
import { CHANNEL, PASSWORD } from '#test/support/making'
import { undocumented } from '#test/support/documented'
import { rawRequest } from '#test/support/raw-request'
import type { RawAnswer, RawRequest } from '#test/support/raw-request'
import { sentMessages } from '#test/support/sent-message'

const AT = `/compat-sendkey/${PATH_KEY}`

const dataOf = ({ json }: RawAnswer): Readonly<Record<string, unknown>> => {
  const data = json['data']
  return isRecord(data) ? data : {}
}

/** Tests by which clients believe that their messages went through; an answer has to pass each. */
const BELIEFS: Readonly<Record<string, (answer: RawAnswer) => boolean>> = {
  'code is 0': ({ json }) => json['code'] === 0,
  'errno is 0': ({ json }) => json['errno'] === 0,
  'data.errno is 0': (answer) => dataOf(answer)['errno'] === 0,
  'data.error is SUCCESS': (answer) => dataOf(answer)['error'] === 'SUCCESS',
  'errmsg is success': ({ json }) => json['errmsg'] === 'success',
  'status 200': ({ status }) => status === 200,
  'a pushid and a readkey to poll with': (answer) =>
    typeof dataOf(answer)['pushid'] === 'string' && typeof dataOf(answer)['readkey'] === 'string',
}

interface Sample extends RawRequest {
  readonly client: string
  readonly fields: Readonly<Record<string, unknown>>
}

const parts = (fields: Readonly<Record<string, string>>): string =>
  `${Object.entries(fields)
    .map(([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}`)
    .join('\r\n')}\r\n--b--\r\n`

const BOTH = { title: 'T', body: 'M' }
const kept = keptBy('sendkey')

const SAMPLES: readonly Sample[] = [
  {
    client: 'official SDK',
    line: `POST ${AT}.send`,
    headers: [JSON_TYPE],
    body: '{"title":"T","desp":"M","tags":"a|b"}',
    fields: { ...BOTH, tags: ['a', 'b'] },
  },
  {
    client: 'official samples',
    line: `POST ${AT}.send`,
    headers: [FORM_TYPE],
    body: 'text=T&desp=M',
    fields: BOTH,
  },
  {
    client: 'official Dart sample',
    line: `POST ${AT}.send`,
    headers: ['Content-Type: multipart/form-data; boundary=b'],
    body: parts({ text: 'T', desp: 'M' }),
    fields: BOTH,
  },
  { client: 'browser', line: `GET ${AT}.send?title=T&desp=M`, fields: BOTH },
  {
    client: 'Apprise without a title',
    line: `POST ${AT}.send`,
    headers: [FORM_TYPE, 'User-Agent: Apprise'],
    body: 'title=&desp=M',
    fields: { title: 'Notification', body: 'M' },
  },
  {
    client: 'Uptime Kuma with a key of the newer kind',
    line: `POST /compat-sendkey/send/${PATH_KEY}.send`,
    headers: [JSON_TYPE],
    body: '{"title":"UptimeKuma Monitor Down web","desp":"down"}',
    fields: { title: 'UptimeKuma Monitor Down web', body: 'down' },
  },
  {
    client: 'qinglong',
    line: `POST ${AT}.send`,
    headers: [FORM_TYPE],
    body: 'title=%E6%9C%8D%E5%8A%A1&desp=a%0A%0Ab+c',
    fields: { title: '服务', body: 'a\n\nb c' },
  },
  {
    client: 'SmsForwarder',
    line: `POST ${AT}.send?timestamp=1763684000000`,
    headers: [FORM_TYPE],
    body: 'title=T&desp=M&channel=9&group=g',
    fields: {
      ...BOTH,
      ...kept({ channel: '9', group: 'g' }),
    },
  },
  {
    client: 'nightly scripts',
    line: `POST ${AT}.send?title=T&desp=M`,
    body: '',
    fields: BOTH,
  },
  {
    client: 'scripts wanting a channel',
    line: `POST ${AT}.send`,
    headers: ['Content-Type: application/json'],
    body: '{"title":"T","desp":"M","short":"S","channel":9,"noip":1}',
    fields: {
      ...BOTH,
      ...kept({ short: 'S', channel: 9, noip: 1 }),
    },
  },
  {
    client: 'the form of the specification, a slash behind it',
    line: `POST ${AT}/`,
    headers: [FORM_TYPE],
    body: 'title=T&desp=M',
    fields: BOTH,
  },
  {
    client: 'raw UTF-8 and newlines in what claims to be a form',
    line: `POST ${AT}.send`,
    headers: [FORM_TYPE],
    body: 'title=磁盘&desp=eins\nzwei',
    fields: { title: '磁盘', body: 'eins\nzwei' },
  },
  {
    client: 'JSON in what claims to be a form, over the query',
    line: `POST ${AT}.send?title=Q&desp=M`,
    headers: [FORM_TYPE],
    body: '{"title":"T"}',
    fields: BOTH,
  },
  {
    client: 'a text that the sender encrypted',
    line: `GET ${AT}.send?title=T&desp=QUJD&encoded=1`,
    fields: { title: 'T', ...kept({ encoded: '1' }), ciphertext: 'QUJD' },
  },
  {
    client: 'an extra that is too long',
    line: `GET ${AT}.send?title=T&short=${'s'.repeat(600)}`,
    fields: { title: 'T', ...kept({ short: 's'.repeat(512) }) },
  },
]

for (const { client, fields, ...request } of SAMPLES) {
  test(`send-key style: ${client}: the intended message arrives, and the client believes so`, async (t) => {
    const rig = await startStyles(t)
    const answered = await rawRequest(rig.port, request)
    for (const [belief, holds] of Object.entries(BELIEFS)) t.true(holds(answered), belief)
    t.is(await undocumented(rig, request, answered), undefined)
    t.deepEqual(sentMessages(rig.sink), [fields])
    t.true(answered.headers.includes('referrer-policy: no-referrer'))
    t.true(answered.headers.includes('cache-control: no-store'))
    t.false(answered.text.includes(PASSWORD))
    t.false(JSON.stringify(rig.logger.lines).includes(PASSWORD))
  })
}

interface Refused extends RawRequest {
  readonly what: string
  readonly status: number
  readonly code: number
}

const WRONG = `/compat-sendkey/${CHANNEL}:wrong+password.send`

const REFUSED: readonly Refused[] = [
  { what: 'a wrong key', line: `GET ${WRONG}?title=T`, status: 404, code: 40_001 },
  {
    what: 'a key of no form',
    line: 'GET /compat-sendkey/SCT1.send?title=T',
    status: 404,
    code: 40_001,
  },
  { what: 'nothing to send', line: `GET ${AT}.send`, status: 400, code: 20_001 },
  {
    what: 'JSON that is none',
    line: `POST ${AT}.send`,
    headers: [JSON_TYPE],
    body: '{',
    status: 400,
    code: 40_001,
  },
  {
    what: 'a body beyond the limit',
    line: `POST ${AT}.send`,
    headers: [FORM_TYPE],
    body: `desp=${'x'.repeat(32_764)}`,
    status: 413,
    code: 413,
  },
]

for (const { what, status, code, ...request } of REFUSED) {
  test(`send-key style: ${what} is refused in the tool's shape`, async (t) => {
    const rig = await startStyles(t)
    const answered = await rawRequest(rig.port, request)
    t.is(answered.status, status, answered.text)
    t.like(answered.json, { code, errno: code, data: { errno: code } })
    t.is(typeof answered.json['message'], 'string')
    t.is(typeof answered.json['info'], 'string')
    t.is(await undocumented(rig, request, answered), undefined)
    t.deepEqual(rig.sink.accepted, [])
    t.false(answered.text.includes(PASSWORD))
  })
}

test('send-key style: the pushid finds the state of a message', async (t) => {
  const rig = await startStyles(t)
  const sent = await rawRequest(rig.port, { line: `GET ${AT}.send?title=T` })
  const { pushid, readkey } = dataOf(sent)
  const [message] = rig.sink.accepted
  if (message?.model !== 'message') return t.fail('a Message was sent')
  const { opId, channelId, entityId, acceptedAt } = message
  const times = { acceptedAt, updatedAt: acceptedAt }
  const status = 'accepted'
  rig.sink.operations.set(opId, { opId, channelId, model: 'message', entityId, status, ...times })
  const line = `GET /compat-sendkey/push?id=${String(pushid)}&readkey=${String(readkey)}`
  const asked = await rawRequest(rig.port, { line })
  t.like(asked.json, { code: 0, data: { id: pushid, wxstatus: '' } })
  rig.sink.operations.set(opId, {
    opId,
    channelId,
    model: 'message',
    entityId,
    status: 'sent',
    ...times,
  })
  t.is(dataOf(await rawRequest(rig.port, { line }))['wxstatus'], '{"status":"sent"}')
  const unknown = await rawRequest(rig.port, { line: 'GET /compat-sendkey/push?id=x' })
  t.is(unknown.status, 404)
})

test('send-key style: token and budget are refused in the shape of the tool', async (t) => {
  const rig = await startStyles(t, { token: 'secret', passwordBudget: { perAddress: 1, total: 9 } })
  const basic = `Authorization: Basic ${btoa('x:secret')}`
  const line = `GET ${AT}.send?title=T`
  t.is((await rawRequest(rig.port, { line, headers: [basic] })).status, 200)
  t.like((await rawRequest(rig.port, { line })).json, { code: 401, data: { errno: 401 } })
  const guess = ['Authorization: Bearer guess']
  await rawRequest(rig.port, { line, headers: guess })
  const limited = await rawRequest(rig.port, { line, headers: guess })
  t.is(limited.status, 429)
  t.like(limited.json, { code: 429 })
})
