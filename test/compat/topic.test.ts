// Goal: what clients of the topic style send arrives as the Message that they mean, and they believe
// that it did.

import test from 'ava'

import { TOPIC, WRONG_TOPIC, startStyles } from '#test/support/compatibility-rig'
import { CHANNEL, NOW_MS, PASSWORD } from '#test/support/making'
import { undocumented } from '#test/support/documented'
import { rawRequest } from '#test/support/raw-request'
import { sentMessages } from '#test/support/sent-message'
import { BELIEFS, NAMED, SAMPLES, kept, urgency } from './topic-samples.ts'
import type { Sample } from './topic-samples.ts'

/** Ways to write a text that is not ASCII, or does not stand in the body. */
const ENCODINGS: readonly Sample[] = [
  {
    client: 'raw UTF-8 in a header',
    line: `PUT ${TOPIC}/send`,
    headers: ['Title: Grüße 🌍 an alle'],
    body: '  text\nof two lines \n',
    fields: { title: 'Grüße 🌍 an alle', body: 'text\nof two lines' },
  },
  {
    client: 'RFC 2047 Q in two words',
    line: `PUT ${TOPIC}/publish`,
    headers: ['t: =?iso-8859-1?Q?Gr=FC=DFe_an?= =?UTF-8?q?_alle?='],
    body: 'x',
    fields: { title: 'Grüße an alle', body: 'x' },
  },
  {
    client: 'everything in the query, with a colon in escapes',
    line: `GET /compat-topic/${CHANNEL}%3A${encodeURIComponent(PASSWORD)}/publish/?message=a%5Cnb+c&title=T&p=2`,
    fields: { title: 'T', body: 'a\nb c', ...urgency('low', 2) },
  },
  {
    client: 'UnifiedPush with bytes that are no text',
    line: `POST ${TOPIC}?up=1`,
    body: Buffer.from([0xff, 0x00, 0x01]),
    fields: { ...NAMED, body: '/wAB', ...kept({ encoding: 'base64' }) },
    answer: { encoding: 'base64' },
  },
]

for (const { client, belief = 'status 200', fields, answer = {}, ...request } of [
  ...SAMPLES,
  ...ENCODINGS,
]) {
  test(`topic style: ${client} sends its message, and takes the answer for success`, async (t) => {
    const rig = await startStyles(t)
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

// A delay as clients send it, and the milliseconds after which the Message is sent.
const DELAYS: readonly (readonly [header: string, afterMs: number])[] = [
  ['Delay: 30min', 1_800_000],
  ['X-Delay: 30m', 1_800_000],
  ['In: 2 hours', 7_200_000],
  [`At: ${new Date(NOW_MS + 90_000).toISOString()}`, 90_000],
  [`At: ${Math.floor(NOW_MS / 1000) + 60}`, 60_000 - (NOW_MS % 1000)],
]

test('topic style: Delay, At and In send the message later, and the answer tells its time', async (t) => {
  const rig = await startStyles(t)
  for (const [header, afterMs] of DELAYS) {
    const request = { line: `POST ${TOPIC}`, headers: [header], body: 'later' }
    const { status, json, text } = await rawRequest(rig.port, request)
    t.is(status, 200, text)
    const sent = rig.sink.accepted.at(-1)
    const deliverAt = sent?.model === 'message' ? sent.schedule?.deliverAt : undefined
    t.is(deliverAt, NOW_MS + afterMs, header)
    t.is(json['time'], Math.floor((NOW_MS + afterMs) / 1000))
  }
})

test('topic style: the questions of clients before a publication are answered', async (t) => {
  const rig = await startStyles(t)
  const preflight = await rawRequest(rig.port, { line: `OPTIONS ${TOPIC}` })
  t.is(preflight.status, 200)
  t.true(preflight.headers.includes('access-control-allow-headers: *'))
  const ask = async (line: string): Promise<object> => (await rawRequest(rig.port, { line })).json
  t.deepEqual(await ask(`GET ${TOPIC}?up=1`), { unifiedpush: { version: 1 } })
  t.deepEqual(await ask('GET /compat-topic/v1/health'), { healthy: true })
  t.deepEqual(await ask(`GET ${TOPIC}/auth`), { success: true })
  t.like(await ask(`GET ${WRONG_TOPIC}/auth`), { code: 40401 })
  t.like(await ask(`GET ${TOPIC}`), { code: 40401 })
})
