// Goal: what a hook refuses: payloads of another form, beyond a bound, of a key without the right, or
// without the proof of a secret; and what the owner of a channel may set for hooks.

import { createHmac } from 'node:crypto'

import test from 'ava'

import { PATH_KEY, startStyles } from '#test/support/compatibility-rig'
import { undocumented } from '#test/support/documented'
import * as from from '#test/support/hook-payloads'
import type { HookPayload } from '#test/support/hook-payloads'
import { CREDENTIALS } from '#test/support/making'
import { addKey } from '#test/support/mqtt-rig'
import { rawRequest } from '#test/support/raw-request'
import { isSigned } from '#src/compat/hooks/signatures'
import { SIGNATURES } from '#src/compat/hooks/kinds'
import type { Rig } from '#test/support/start-ingress'

type Json = Readonly<Record<string, unknown>>

const alerts = (count: number) => ({ alerts: Array.from({ length: count }, () => ALERT) })
const ALERT = { status: 'firing', fingerprint: 'f', startsAt: '2025-11-20T07:00:00Z' }

const refused: readonly (readonly [kind: string, body: string, status: number, said: RegExp])[] = [
  ['alertmanager', '{}', 400, /alerts must be a list/],
  ['alertmanager', '{"alerts":{}}', 400, /alerts must be a list/],
  ['alertmanager', '{"alerts":[{}]}', 400, /alerts\[0\]/],
  ['alertmanager', '{"alerts":[5]}', 400, /alerts\[0\]/],
  ['alertmanager', JSON.stringify({ alerts: [ALERT, { ...ALERT, fingerprint: '', labels: { alertname: 'a' } }] }), 400, /alerts\[1\]: source/],
  ['alertmanager', '[]', 400, /object/],
  ['alertmanager', '{"alerts":', 400, /JSON/],
  ['alertmanager', '', 400, /JSON/],
  ['uptime-kuma', '{"heartbeat":null,"monitor":null}', 400, /payload is not of this kind/],
  ['healthchecks', '{"status":"down"}', 400, /payload is not of this kind/],
  ['github', '{"zen":"without its header"}', 400, /payload is not of this kind/],
  ['json', '{"title":"without a mapping"}', 400, /payload is not of this kind/],
  ['nagios', '{}', 404, /route/],
  ['constructor', '{}', 404, /route/],
] // oxfmt-ignore

for (const [kind, body, status, said] of refused) {
  test(`${kind} with ${body.slice(0, 50)} is refused with ${status}`, async (t) => {
    const rig = await startStyles(t)
    const request = {
      line: `POST /hook/${kind}/${PATH_KEY}`,
      headers: ['Content-Type: application/json'],
      body,
    }
    const answer = await rawRequest(rig.port, request)
    t.is(answer.status, status)
    t.regex(answer.text, said)
    t.is(await undocumented(rig, request, answer), undefined)
    t.deepEqual(rig.sink.accepted, [])
  })
}

test('hook-payloads/1: a payload has at most 1,000 alarms and 1 MiB', async (t) => {
  const rig = await startStyles(t)
  const path = `/hook/alertmanager/${PATH_KEY}`
  t.like(await rig.post(path, alerts(1_000)), { status: 200, json: { data: { accepted: 1_000 } } })
  const more = await rig.post(path, alerts(1_001))
  t.is(more.status, 400)
  t.regex(more.text, /alerts must be at most 1000/)
  const padded = (bytes: number) => {
    const empty = JSON.stringify({ alerts: [], more: '' }).length
    return { alerts: [], more: 'x'.repeat(bytes - empty) }
  }
  t.is((await rig.post(path, padded(2 ** 20))).status, 200)
  t.is((await rig.post(path, padded(2 ** 20 + 1))).status, 413)
})

test('long texts are cut, so that an alarm is never refused for its length', async (t) => {
  const rig = await startStyles(t)
  const long = 'ü'.repeat(2_500)
  const labels = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`l${at}`, long]))
  const annotations = { summary: long.repeat(4), description: long }
  const group = from.alertmanager({ labels: { alertname: long, ...labels }, annotations })
  t.is((await rig.post(`/hook/alertmanager/${PATH_KEY}`, group.body)).status, 200)
  const [taken] = rig.sink.accepted
  t.true(JSON.stringify(taken).length < 32_768)
})

const RIGHTS: readonly (readonly [rights: object, status: number])[] = [
  [{ scopes: ['send'] }, 200],
  [{ scopes: ['read'] }, 403],
  [{ thingPrefix: 'a-' }, 403],
  [{ expiresAt: 1 }, 403],
]

for (const [rights, status] of RIGHTS) {
  test(`a key with ${JSON.stringify(rights)} opens a hook with ${status}, and writes nothing otherwise`, async (t) => {
    const rig = await startStyles(t)
    const key = await addKey(rig, rights)
    for (const { kind, body } of [from.alertmanager({}), from.uptimeKuma({})]) {
      t.is((await rig.post(`/hook/${kind}/${key}`, body)).status, status)
    }
    const count = status === 200 ? 2 : 0
    t.deepEqual([rig.sink.accepted.length, rig.hooks.episodes.size], [count, count / 2])
  })
}

// The pairs of the tools' own documents.
test('a signature is that of GitHub for its own example', (t) => {
  const payload = Buffer.from('Hello, World!')
  const sent = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
  const secret = "It's a Secret to Everybody"
  t.true(isSigned(SIGNATURES.github, secret, { payload, sent }))
  t.false(isSigned(SIGNATURES.github, `${secret}.`, { payload, sent }))
  t.false(isSigned(SIGNATURES.github, secret, { payload: Buffer.from('Hello, World'), sent }))
})

const hexOf = (secret: string, body: string): string =>
  createHmac('sha256', secret).update(body).digest('hex')

/** The header of each tool with the proof of a secret. */
const PROOFS: readonly (readonly [
  payload: HookPayload,
  header: string,
  proofOf: (secret: string, body: string) => string,
])[] = [
  [from.grafana({}), 'x-grafana-alerting-signature', hexOf],
  [from.push({}), 'x-hub-signature-256', (secret, body) => `sha256=${hexOf(secret, body)}`],
  [from.pipeline({}), 'x-gitlab-token', (secret) => secret],
  [from.eventAlert, 'sentry-hook-signature', hexOf],
]

const set = (rig: Rig, more: object) => rig.post('/channel/hooks', { ...CREDENTIALS, ...more })

for (const [{ kind, body, headers }, header, proofOf] of PROOFS) {
  test(`hook-payloads/2: with a secret, ${kind} is taken with its proof alone`, async (t) => {
    const rig = await startStyles(t)
    const path = `/hook/${kind}/${await addKey(rig)}`
    const text = JSON.stringify(body)
    const send = async (proof?: string) => {
      const own = { ...headers, ...(proof !== undefined && { [header]: proof }) }
      return (await rig.post(path, body, own)).status
    }
    t.is(await send(), 200)
    t.is((await set(rig, { secrets: { [kind]: 'the secret' } })).status, 200)
    t.deepEqual(
      [await send(), await send('x'), await send(proofOf('another', text))],
      [404, 404, 404],
    )
    t.is(rig.sink.accepted.length, 1)
    t.is(await send(proofOf('the secret', text)), 200)
    t.is((await rig.post(`/hook/alertmanager/${PATH_KEY}`, { alerts: [] })).status, 200)
    await set(rig, { secrets: { [kind]: null } })
    t.is(await send(), 200)
  })
}

test('a wrong proof counts as a guess', async (t) => {
  const rig = await startStyles(t, { passwordBudget: { perAddress: 3, total: 100 } })
  await set(rig, { secrets: { github: 'the secret' } })
  const path = `/hook/github/${await addKey(rig)}`
  const { body, headers } = from.push({})
  const statuses = []
  for (let guess = 0; guess < 4; guess += 1) {
    statuses.push((await rig.post(path, body, headers)).status)
  }
  t.deepEqual([statuses[0], statuses.at(-1)], [404, 503])
})

const MAPPING = {
  title: '{alert.name}',
  message: '{alert.text|text}',
  severity: '{alert.level}',
  thing: '{host}',
  url: '{link}',
  tags: '{groups}',
  source: '{alert.id}',
  time: '{at}',
  state: '{state}',
}
const OWN = {
  alert: { name: 'Hot', level: 'WARNING', id: 7 },
  text: 'too hot',
  host: 'boiler',
  link: 'https://x',
  groups: ['cellar'],
  at: 1_763_600_000,
}

test('payloads of the kind json are read by the mappings of the channel', async (t) => {
  const rig = await startStyles(t)
  const path = `/hook/json/${PATH_KEY}`
  const json = [MAPPING, { title: '{news}' }]
  t.like(await set(rig, { json }), { status: 200, json: { data: { json } } })
  for (const state of ['PROBLEM', 'resolved', 'acknowledged']) {
    t.is((await rig.post(path, { ...OWN, state })).status, 200)
  }
  t.is((await rig.post(path, { news: 'n' })).status, 200)
  t.is((await rig.post(path, { other: 'n' })).status, 400)
  const told = rig.sink.accepted.map((one) => {
    if (one.model === 'event') return { action: one.action, ...one.patch.fields }
    return one.model === 'message' ? { ...one.fields } : {}
  })
  const common = { title: 'Hot', severity: 'normal', thing_id: 'boiler', tags: ['cellar'] }
  t.like(told[0], {
    ...common,
    action: 'update',
    message: 'too hot',
    started_at: 1_763_600_000_000,
  })
  t.like(told[1], { ...common, action: 'close', metadata: { url: 'https://x' } })
  t.like(told[2], { ...common, body: 'too hot', url: 'https://x', occurred_at: 1_763_600_000_000 })
  t.deepEqual(told[3], { title: 'n' })
})

test('a mapping has words of its own for states, and a start by which an alarm is known', async (t) => {
  const rig = await startStyles(t)
  const mapping = { ...MAPPING, start: '{since}', firing: ['RAISED'], resolved: ['gone', 'over'] }
  await set(rig, { json: [mapping] })
  for (const state of ['raised', 'over', 'problem']) {
    await rig.post(`/hook/json/${PATH_KEY}`, { ...OWN, state, since: 's' })
  }
  t.deepEqual(
    rig.sink.accepted.map(({ action }) => action),
    ['update', 'close', 'send'],
  )
  t.is(rig.hooks.episodes.size, 0)
})

test('hooks are set part by part, and secrets are never shown', async (t) => {
  const rig = await startStyles(t)
  const dataOf = async (more: object) => (await set(rig, more)).json['data'] as Json
  const channel_id = CREDENTIALS.channel_id
  t.deepEqual(await dataOf({}), { channel_id, json: [], secrets: [] })
  const json = [{ title: '{a}' }]
  t.deepEqual(await dataOf({ json }), { channel_id, json, secrets: [] })
  await set(rig, { secrets: { gitlab: 'a secret' } })
  const both = await dataOf({ secrets: { github: 'another secret' } })
  t.deepEqual(both, { channel_id, json, secrets: ['github', 'gitlab'] })
  t.deepEqual(await dataOf({ secrets: { gitlab: null }, json: [] }), {
    channel_id,
    json: [],
    secrets: ['github'],
  })
})

const MISSET: readonly (readonly [body: object, status: number, field: string])[] = [
  [{ json: {} }, 400, 'json'],
  [{ json: ['x'] }, 400, 'json'],
  [{ json: [{}] }, 400, 'json[0].title'],
  [{ json: [{ title: ' ' }] }, 400, 'json[0].title'],
  [{ json: [{ title: 'x'.repeat(257) }] }, 400, 'json[0].title'],
  [{ json: [{ title: '{a}', tittle: 'x' }] }, 400, 'json[0]'],
  [{ json: [{ title: '{a}', firing: 'x' }] }, 400, 'json[0].firing'],
  [{ json: [{ title: '{a}', resolved: Array.from({ length: 17 }, () => 'x') }] }, 400, 'json[0].resolved'],
  [{ json: Array.from({ length: 21 }, () => ({ title: '{a}' })) }, 400, 'json'],
  [{ secrets: { alertmanager: 'x' } }, 400, 'secrets'],
  [{ secrets: { github: 5 } }, 400, 'secrets'],
  [{ secrets: { github: '' } }, 400, 'secrets.github'],
  [{ secrets: { github: 'x'.repeat(257) } }, 400, 'secrets.github'],
  [{ password: 'not the one' }, 404, ''],
] // oxfmt-ignore

for (const [body, status, field] of MISSET) {
  test(`setting ${JSON.stringify(body).slice(0, 60)} is refused for ${field}, and changes nothing`, async (t) => {
    const rig = await startStyles(t)
    const answer = await set(rig, body)
    t.is(answer.status, status, answer.text)
    t.true(answer.text.includes(field))
    t.is(rig.hooks.kept.size, 0)
  })
}

const SETTERS: readonly (readonly [rights: object, reads: number, sets: number])[] = [
  [{}, 200, 200],
  [{ scopes: ['read'] }, 200, 403],
  [{ scopes: ['send'] }, 403, 403],
  [{ thingPrefix: 'a-' }, 403, 403],
]

for (const [rights, reads, sets] of SETTERS) {
  test(`a key with ${JSON.stringify(rights)} reads hooks with ${reads} and sets them with ${sets}`, async (t) => {
    const rig = await startStyles(t)
    const password = await addKey(rig, rights)
    t.is((await set(rig, { password })).status, reads)
    t.is((await set(rig, { password, secrets: { github: 'x' } })).status, sets)
    t.is(rig.hooks.kept.size, sets === 200 ? 1 : 0)
  })
}
