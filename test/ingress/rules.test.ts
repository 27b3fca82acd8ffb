// Goal: the routes of rules: a bad rule is refused with its path, and nothing is half put.

import test from 'ava'

import type { FeedEntry } from '#domain/feed'
import { parseChannelId } from '#domain/identity'
import { ruleId, ruleOf } from '#test/support/rules'
import { CREDENTIALS } from '#test/support/making'
import { startIngress } from '#test/support/start-ingress'
import { thing } from '#test/support/submissions'

const PUT = { ...CREDENTIALS, rule_id: 'r', rule: ruleOf() }

test('a rule is put and deleted by submissions', async (t) => {
  const rig = await startIngress(t)
  const rule = ruleOf({ things: { ids: ['a', 'b'] } })
  const put = await rig.post('/rule/put', { ...PUT, rule })
  t.like(put, { status: 200, json: { data: { rule_id: 'r' } } })
  t.like(await rig.post('/rule/delete', { ...CREDENTIALS, rule_id: 'r' }), { status: 200 })
  const [made, removed] = rig.sink.accepted
  t.like(made, { model: 'rule', action: 'put', entityId: 'r', text: JSON.stringify(rule) })
  t.deepEqual(made?.model === 'rule' ? made.thingIds : undefined, ['a', 'b'] as unknown)
  t.like(removed, { model: 'rule', action: 'delete', entityId: 'r', text: '' })
})

const REFUSED: readonly (readonly [string, object, number, string])[] = [
  ['/rule/put', { ...PUT, rule: ruleOf({ when: { attr: 't', above: 'x' } }) }, 400, 'above'],
  ['/rule/put', { ...PUT, rule: 'x' }, 400, 'rule'],
  ['/rule/put', { ...PUT, rule_id: 'a b' }, 400, 'rule_id'],
  ['/rule/put', { ...PUT, password: 'not the one' }, 404, 'channel'],
  ['/rule/delete', { ...CREDENTIALS, rule_id: '' }, 400, 'rule_id'],
  ['/rule/get', { ...CREDENTIALS, rule_id: 'none' }, 404, 'rule'],
  ['/rule/list', { ...CREDENTIALS, cursor: 'x' }, 400, 'cursor'],
  ['/rule/test', { ...CREDENTIALS, rule: { things: 'all' } }, 400, 'rule'],
  ['/rule/test', { ...CREDENTIALS, rule: ruleOf(), from: 2, to: 1 }, 400, 'from'],
]

test('a bad request about a rule is refused, and puts nothing', async (t) => {
  const rig = await startIngress(t)
  for (const [path, body, status, says] of REFUSED) {
    const { json, status: given } = await rig.post(path, body)
    t.is(given, status, `${path} ${JSON.stringify(json)}`)
    t.true(JSON.stringify(json).includes(says), JSON.stringify(json))
  }
  const { json } = await rig.post('/rule/put', REFUSED[0]?.[1] ?? {})
  t.true(JSON.stringify(json).includes('rule.when.above'), JSON.stringify(json))
  t.true(JSON.stringify(json).includes('must be a number'))
  t.deepEqual(rig.sink.accepted, [])
})

test('a key for some Things neither puts nor reads rules', async (t) => {
  const rig = await startIngress(t)
  const made = await rig.post('/channel/key', { ...CREDENTIALS, thing_prefix: 'a-' })
  const { key } = made.json['data'] as { key: string }
  for (const path of ['/rule/put', '/rule/delete', '/rule/get', '/rule/list', '/rule/test']) {
    const { status, json } = await rig.post(path, { ...PUT, password: key })
    t.is(status, 403, `${path} ${JSON.stringify(json)}`)
  }
})

test('rules are listed page by page, with their failures', async (t) => {
  const rig = await startIngress(t)
  const [first] = rig.rules.kept
  if (first === undefined) throw new Error('the fake has no rule')
  const failed = { ...first, ruleId: ruleId('s'), failures: { count: 2, last: 't is missing' } }
  rig.rules.kept.push(failed)
  const page = (await rig.post('/rule/list', { ...CREDENTIALS, limit: 1 })).json['data'] as {
    next_cursor: string
  }
  const rest = await rig.post('/rule/list', { ...CREDENTIALS, cursor: page.next_cursor })
  t.like(rest.json['data'], {
    items: [{ rule_id: 's', failures: 2, last_failure: 't is missing' }],
  })
})

const CHANNEL_ID = parseChannelId(CREDENTIALS.channel_id) ?? fail()

function fail(): never {
  throw new Error('the channel of the rig has no id')
}

const entry = (seq: number, s: number, t: number): FeedEntry => ({
  channelId: CHANNEL_ID,
  seq,
  opId: thing('update', 'a').opId,
  model: 'thing',
  action: 'update',
  entityId: thing('update', 'a').entityId,
  state: 'active',
  rev: seq,
  acceptedAt: s * 1_000,
  payload: JSON.stringify({ observed_at: s * 1_000, attrs: { t } }),
})

test('rule-trials/1: a trial shows what a rule would have opened, and writes nothing', async (t) => {
  const rig = await startIngress(t)
  rig.reads.entries = [entry(1, 1, 31), entry(2, 20, 1), entry(3, 30, 40)]
  const rule = ruleOf({ for: '5s', event: { title: '{thing.id} {t}', severity: 'high' } })
  const tried = await rig.post('/rule/test', { ...CREDENTIALS, rule, to: 60_000 })
  const firing = { thing_id: 'a', severity: 'high' }
  t.deepEqual(tried.json['data'], {
    firings: [
      { ...firing, title: 'a 31', since: 1_000, fired_at: 6_000, cleared_at: 20_000 },
      { ...firing, title: 'a 40', since: 30_000, fired_at: 35_000 },
    ],
    entries: 3,
    complete: true,
  } as unknown)
  t.deepEqual(rig.sink.accepted, [])
})
