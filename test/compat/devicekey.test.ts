// Goal: what clients of the device-key style send arrives as the Message that they mean, and they
// believe that it did. Method: the requests of real clients as bytes, one row each.

import test from 'ava'

import {
  FORM_TYPE,
  JSON_TYPE,
  KEY,
  PATH_KEY,
  keptBy,
  startStyles,
} from '#test/support/compatibility-rig'
import { CHANNEL, PASSWORD } from '#test/support/making'
import { undocumented } from '#test/support/documented'
import { rawRequest } from '#test/support/raw-request'
import type { RawAnswer, RawRequest } from '#test/support/raw-request'
import { sentMessages } from '#test/support/sent-message'
import { addChannel } from '#test/support/start-ingress'

const AT = `/compat-devicekey/${PATH_KEY}`
const ICON = 'https://example.com/a/i.png'

/** Tests by which clients believe that their messages went through; an answer has to pass each. */
const BELIEFS: Readonly<Record<string, (answer: RawAnswer) => boolean>> = {
  'code is 200': ({ json }) => json['code'] === 200,
  'status 200': ({ status }) => status === 200,
  'the text has success': ({ text }) => text.includes('success'),
}

interface Sample extends RawRequest {
  readonly client: string
  readonly fields: Readonly<Record<string, unknown>>
}

const BOTH = { title: 'T', body: 'M' }
const kept = keptBy('devicekey')

const SAMPLES: readonly Sample[] = [
  {
    client: 'Uptime Kuma v1',
    line: `GET ${AT}/web%20down/it%2Fis?icon=${ICON}&group=UptimeKuma&sound=telegraph`,
    fields: {
      title: 'web down',
      body: 'it/is',
      tags: ['UptimeKuma'],
      ...kept({ icon: ICON, sound: 'telegraph' }),
    },
  },
  {
    client: 'Uptime Kuma v2',
    line: `POST ${AT}`,
    headers: [JSON_TYPE],
    body: JSON.stringify({ ...BOTH, icon: ICON, sound: 'telegraph', group: 'UptimeKuma' }),
    fields: { ...BOTH, tags: ['UptimeKuma'], ...kept({ icon: ICON, sound: 'telegraph' }) },
  },
  {
    client: 'acme.sh',
    line: `GET ${AT}/T/M?group=ACME&level=timeSensitive&badge=1&automaticallyCopy=1&copy=c&isArchive=1&url=https%3A%2F%2Fexample.com`,
    fields: {
      ...BOTH,
      severity: 'high',
      url: 'https://example.com',
      tags: ['ACME'],
      ...kept({
        level: 'timeSensitive',
        badge: '1',
        automaticallycopy: '1',
        copy: 'c',
        isarchive: '1',
      }),
    },
  },
  {
    client: 'qinglong',
    line: `POST ${AT}/`,
    headers: [JSON_TYPE],
    body: JSON.stringify({
      ...BOTH,
      icon: '',
      sound: '',
      group: 'QL',
      isArchive: '',
      level: '',
      url: '',
    }),
    fields: { ...BOTH, tags: ['QL'] },
  },
  {
    client: 'SmsForwarder, encrypted',
    line: `POST ${AT}?timeStamp=1763684000000`,
    headers: [FORM_TYPE],
    body: 'ciphertext=QUJD%2B&iv=123456789012',
    fields: {
      title: 'Notification',
      body: 'Empty Message',
      ...kept({ iv: '123456789012' }),
      ciphertext: 'QUJD+',
    },
  },
  {
    client: 'shoutrrr',
    line: 'POST /compat-devicekey/push',
    headers: [JSON_TYPE],
    body: JSON.stringify({ body: 'M', device_key: KEY, title: '', badge: 0 }),
    fields: { title: 'Notification', body: 'M', ...kept({ badge: 0 }) },
  },
  {
    client: 'curl JSON',
    line: 'POST /compat-devicekey/push',
    headers: [JSON_TYPE],
    body: JSON.stringify({
      device_key: KEY,
      ...BOTH,
      badge: 1,
      sound: 'minuet.caf',
      url: 'https://x.test',
    }),
    fields: { ...BOTH, url: 'https://x.test', ...kept({ badge: 1, sound: 'minuet.caf' }) },
  },
  {
    client: 'Auto_Bangumi',
    line: 'POST /compat-devicekey/push',
    headers: [FORM_TYPE],
    body: new URLSearchParams({ ...BOTH, device_key: KEY }).toString(),
    fields: BOTH,
  },
  {
    client: 'C# RestSharp',
    line: `POST ${AT}/T/M?group=g`,
    headers: [FORM_TYPE],
    body: '',
    fields: { ...BOTH, tags: ['g'] },
  },
  {
    client: 'older qinglong, with two slashes',
    line: `GET ${AT}//T/disk+full%0Asee+%2Fvar?isArchive=1&level=active&url=https://example.com`,
    fields: {
      title: 'T',
      body: 'disk full\nsee /var',
      severity: 'normal',
      url: 'https://example.com',
      ...kept({ isarchive: '1', level: 'active' }),
    },
  },
  {
    client: 'nikoksr/notify, with a name that nobody knows',
    line: 'POST /compat-devicekey/push/',
    headers: [JSON_TYPE],
    body: JSON.stringify({ device_key: KEY, ...BOTH, pushURL: 'https://x.test' }),
    fields: { ...BOTH, ...kept({ pushurl: 'https://x.test' }) },
  },
  { client: 'browser', line: `GET ${AT}/M`, fields: { title: 'Notification', body: 'M' } },
  {
    client: 'Shortcuts',
    line: `GET ${AT}/T/S/M/`,
    fields: { ...BOTH, ...kept({ subtitle: 'S' }) },
  },
  {
    client: 'the path over the query over JSON',
    line: `POST ${AT}/P?title=Q&body=Q&level=PASSIVE`,
    headers: [JSON_TYPE],
    body: JSON.stringify({ Title: 'J', body: 'J', level: 'critical', ext: { Deep: 1 } }),
    fields: { title: 'Q', body: 'P', severity: 'low', ...kept({ level: 'PASSIVE', deep: 1 }) },
  },
  {
    client: 'a form over the query',
    line: `POST ${AT}?title=Q&body=Q`,
    headers: [FORM_TYPE],
    body: 'title=F',
    fields: { title: 'F', body: 'Q' },
  },
  {
    client: 'markdown and a picture',
    line: `POST ${AT}`,
    headers: [JSON_TYPE],
    body: JSON.stringify({ markdown: '**M**', image: ICON, level: 'critical' }),
    fields: {
      title: 'Notification',
      body: '**M**',
      severity: 'critical',
      images: [ICON],
      ...kept({ markdown: true, level: 'critical' }),
    },
  },
]

for (const { client, fields, ...request } of SAMPLES) {
  test(`device-key style: ${client}: the intended message arrives, and the client believes so`, async (t) => {
    const rig = await startStyles(t)
    const answered = await rawRequest(rig.port, request)
    for (const [belief, holds] of Object.entries(BELIEFS)) {
      t.true(holds(answered), `${belief}: ${answered.text}`)
    }
    t.deepEqual(Object.keys(answered.json), ['code', 'message', 'timestamp'])
    t.is(await undocumented(rig, request, answered), undefined)
    t.deepEqual(sentMessages(rig.sink), [fields])
    t.true(answered.headers.includes('referrer-policy: no-referrer'))
    t.true(answered.headers.includes('cache-control: no-store'))
    t.false(JSON.stringify(rig.logger.lines).includes(PASSWORD))
  })
}

const OTHER = 'ZYXWVTSRQPNMKJHGFEDCBA9870'

test('device-key style: a batch has one result for each key, in their order', async (t) => {
  const rig = await startStyles(t)
  await addChannel(rig.channels, OTHER, 'other password')
  const keys = [KEY, `${CHANNEL}:not the password`, 'nothing', `${OTHER}:other password`]
  const answered = await rawRequest(rig.port, {
    line: 'POST /compat-devicekey/push',
    headers: [JSON_TYPE],
    body: JSON.stringify({ device_keys: keys, ...BOTH }),
  })
  t.is(answered.status, 200)
  t.like(answered.json, { code: 200, message: 'success' })
  const refusal =
    'failed to get device token: the channel does not exist or the credentials do not match'
  t.deepEqual(answered.json['data'], [
    { code: 200, device_key: `${CHANNEL}:***` },
    { code: 404, device_key: `${CHANNEL}:***`, message: refusal },
    { code: 404, device_key: '***', message: refusal },
    { code: 200, device_key: `${OTHER}:***` },
  ])
  t.deepEqual(sentMessages(rig.sink), [BOTH, BOTH])
})

test('device-key style: each further key of a batch counts in the password budget', async (t) => {
  const rig = await startStyles(t, { passwordBudget: { perAddress: 2, total: 100 } })
  const answered = await rawRequest(rig.port, {
    line: 'POST /compat-devicekey/push',
    headers: [JSON_TYPE],
    body: JSON.stringify({ device_keys: `${KEY},${KEY},${KEY}`, ...BOTH }),
  })
  const data = answered.json['data'] as readonly { readonly code: number }[]
  t.deepEqual(
    data.map(({ code }) => code),
    [200, 200, 429],
  )
})

test('device-key style: the questions of apps are answered', async (t) => {
  const rig = await startStyles(t)
  const ask = (line: string): Promise<RawAnswer> => rawRequest(rig.port, { line })
  t.like((await ask('GET /compat-devicekey/ping')).json, { code: 200, message: 'pong' })
  t.is((await ask('GET /compat-devicekey/healthz')).text, 'ok')
  t.is((await ask('GET /compat-devicekey')).text, 'ok')
})
