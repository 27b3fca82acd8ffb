// Goal: the log tells an auditor who was refused and what was changed, and tells no secret.

import test from 'ava'

import { Audit } from '#src/acceptance/audit'
import { CREDENTIALS, PASSWORD } from '#test/support/making'
import { FakeLogger } from '#test/support/fake-telemetry'
import { FakeTime } from '#test/support/fake-timers'
import { startIngress } from '#test/support/start-ingress'
import type { Answered, Rig } from '#test/support/start-ingress'
import { TOKEN } from '#test/support/pipeline-requests'
import { until } from '#test/support/until'

const ADDRESS = '203.0.113.9'
const GUESS = 'a wrong password'
const NEW_PASSWORD = 'another password'
const OPTIONS = { trustedProxies: ['127.0.0.0/8'] }
const HEADERS = { 'x-forwarded-for': ADDRESS, 'x-request-id': 'r-1' }

const linesOf = ({ logger }: Rig): readonly (readonly [string, string, object])[] =>
  logger.lines.map(({ level, fact, fields }) => [level, fact, fields])

const dataOf = ({ json }: Answered): Readonly<Record<string, unknown>> =>
  json['data'] as Readonly<Record<string, unknown>>

test('audit/2: refused passwords of a host are two lines a minute', async (t) => {
  const rig = await startIngress(t, OPTIONS)
  const guess = (): Promise<Answered> =>
    rig.post('/message', { ...CREDENTIALS, password: GUESS, title: 't' }, HEADERS)
  for (let count = 0; count < 5; count += 1) t.is((await guess()).status, 404)
  const refused = { credential: 'channel password', address: ADDRESS }
  const first = ['warn', 'a credential was refused', { ...refused, requestId: 'r-1' }]
  t.deepEqual(linesOf(rig), [first])
  rig.time.advance(60_000)
  const folded = ['warn', 'a credential was refused again', { ...refused, count: 4 }]
  t.deepEqual(linesOf(rig), [first, folded])
  rig.time.advance(600_000)
  t.is(linesOf(rig).length, 2)
  await guess()
  t.is(linesOf(rig).length, 3)
  t.false(JSON.stringify(rig.logger.lines).includes(GUESS))
})

test('pipeline/5: who hangs up before the verdict on a password is named and counted all the same', async (t) => {
  const rig = await startIngress(t)
  const body = JSON.stringify({ ...CREDENTIALS, password: GUESS, title: 't' })
  const head = `POST /message HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
  const { socket } = rig.connect()
  socket.write(head + body, () => socket.destroy())
  await until('the guess is refused', () => rig.logger.lines.length > 0)
  t.like(linesOf(rig), [['warn', 'a credential was refused', { address: '127.0.0.1' }]])
})

test('a refused gateway token has a line, also where it stands in place of a password', async (t) => {
  const rig = await startIngress(t, { ...OPTIONS, token: TOKEN })
  for (const path of ['/healthz', '/send_status/x']) {
    await rig.get(path, { ...HEADERS, authorization: 'Bearer wrong-token' })
  }
  t.like(linesOf(rig), [
    ['warn', 'a credential was refused', { credential: 'gateway token', address: ADDRESS }],
  ])
  await rig.post(
    '/message',
    { ...CREDENTIALS, password: GUESS, title: 't' },
    { ...HEADERS, authorization: `Bearer ${TOKEN}` },
  )
  t.like(linesOf(rig)[1], ['warn', 'a credential was refused', { credential: 'channel password' }])
  t.notRegex(JSON.stringify(rig.logger.lines), new RegExp(`${TOKEN}|wrong-token|${GUESS}`))
})

test('audit/1: each change of keys, passwords, channels and devices has a line with its ids and no secret', async (t) => {
  const rig = await startIngress(t, OPTIONS)
  const post = (path: string, body: object): Promise<Answered> => rig.post(path, body, HEADERS)
  const made = dataOf(await post('/channel/key', CREDENTIALS))
  const { key_id } = made
  await post('/channel/key/revoke', { ...CREDENTIALS, key_id })
  const device = dataOf(await post('/device/register', { platform: 'web' }))
  const { device_key } = device
  const again = dataOf(await post('/device/register', { platform: 'ios', device_key }))
  const wish = { ...CREDENTIALS, device_key: again['device_key'] }
  const joined = dataOf(await post('/channel/subscribe', wish))
  const { subscriber_id } = joined
  await post('/channel/subscriber/remove', { ...CREDENTIALS, subscriber_id })
  await post('/channel/password', { ...CREDENTIALS, new_password: NEW_PASSWORD })
  await post('/channel/delete', { ...CREDENTIALS, password: NEW_PASSWORD })
  const { channelId } = rig
  const origin = { address: ADDRESS, requestId: 'r-1' }
  const lines = linesOf(rig)
  const isOfDevice = (fact: unknown): boolean => /device|subscriber/.test(String(fact))
  t.deepEqual(
    lines.filter(([, fact]) => !isOfDevice(fact)),
    [
      ['info', 'a channel key was made', { channelId, keyId: key_id, ...origin }],
      ['info', 'a channel key was revoked', { channelId, keyId: key_id, ...origin }],
      ['info', 'a channel password was changed', { channelId, ...origin }],
      ['info', 'a channel was deleted', { channelId, ...origin }],
    ],
  )
  t.like(lines[2], ['info', 'a device was removed', origin])
  t.like(lines[3], ['info', 'a subscriber was removed', { channelId, ...origin }])
  const text = JSON.stringify(rig.logger.lines)
  const secrets = [PASSWORD, NEW_PASSWORD, made['key'], device_key, again['device_key']]
  for (const secret of secrets) t.false(text.includes(String(secret)))
})

test('audit/3: beyond 1,000 hosts in a minute refusals are one number, which the end writes too', (t) => {
  const logger = new FakeLogger()
  const audit = new Audit({ logger, timers: new FakeTime(0) })
  for (let host = 0; host < 5_000; host += 1) {
    audit.refused('channel password', {
      address: `2001:db8:0:${host.toString(16)}::1`,
      requestId: 'r',
    })
  }
  t.is(logger.lines.length, 1_000)
  audit.flush()
  t.is(logger.lines.length, 1_001)
  t.like(logger.lines.at(-1), {
    fact: 'credentials were refused at further addresses',
    fields: { count: 4_000 },
  })
})
