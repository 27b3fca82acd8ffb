// Goal: devices of ThingsBoard post over HTTP as they are, with a key for their access token.
// Method: the bodies of its documentation as bytes, one row each; malformed ones beside them.

import test from 'ava'

import { startStyles } from '#test/support/compatibility-rig'
import { undocumented } from '#test/support/documented'
import { addKey } from '#test/support/mqtt-rig'
import { NOW_MS } from '#test/support/making'
import { rawRequest } from '#test/support/raw-request'
import type { Rig } from '#test/support/start-ingress'

const posted = async (rig: Rig, token: string, body: string, kind = 'telemetry') => {
  const request = { line: `POST /api/v1/${token}/${kind}`, body }
  const answer = await rawRequest(rig.port, request)
  return { ...answer, differs: await undocumented(rig, request, answer) }
}

const updates = ({ sink }: Rig): readonly unknown[] =>
  sink.accepted.map((one) =>
    one.model === 'thing' ? [one.entityId, one.patch.at, one.patch.attrs] : one.model,
  )

const [FIRST, SECOND] = [1_451_649_600_000, 1_451_649_601_000]
type Expected = readonly (readonly [at: number, attrs: object])[]

const taken: readonly (readonly [kind: string, body: string, expected: Expected])[] = [
  ['telemetry', '{"temperature":22.5,"humidity":61}', [[NOW_MS, { temperature: 22.5, humidity: 61 }]]],
  ['telemetry', '{"ts":1451649600512,"values":{"temperature":22.5}}', [[1_451_649_600_512, { temperature: 22.5 }]]],
  [
    'telemetry',
    '[{"ts":1451649601000,"values":{"t":2}},{"ts":1451649600000,"values":{"t":1}}]',
    [[SECOND, { t: 2 }], [FIRST, { t: 1 }]],
  ],
  ['attributes', '{"firmware":"1.2","net":{"ip":"10.0.0.1"}}', [[NOW_MS, { 'firmware': '1.2', 'net.ip': '10.0.0.1' }]]],
  ['telemetry', '{}', []],
] // oxfmt-ignore

for (const [kind, body, expected] of taken) {
  test(`${kind} ${body} is taken`, async (t) => {
    const rig = await startStyles(t)
    const key = await addKey(rig, { thingPrefix: 'boiler' })
    const { status, text, differs } = await posted(rig, key, body, kind)
    t.deepEqual([status, text, differs], [200, '', undefined])
    t.deepEqual(
      updates(rig),
      expected.map(([at, attrs]) => ['boiler', at, attrs]),
    )
  })
}

const refused: readonly (readonly [body: string, status: number, message: RegExp])[] = [
  ['{"a":', 400, /payload/],
  ['5', 400, /object/],
  ['', 400, /payload/],
  ['[{"ts":1,"values":5}]', 400, /payload\[0\]\.values/],
  [`{"a":"${'x'.repeat(32_768)}"}`, 413, /./],
]

for (const [body, status, message] of refused) {
  test(`telemetry ${body.slice(0, 24)} is refused with ${status}, as documented`, async (t) => {
    const rig = await startStyles(t)
    const answer = await posted(rig, await addKey(rig), body)
    t.deepEqual([answer.status, answer.differs], [status, undefined])
    t.regex(String(answer.json['message']), message)
    t.deepEqual(updates(rig), [])
  })
}

test('a device without a prefix is the Thing of its label, or of its key', async (t) => {
  const rig = await startStyles(t)
  for (const key of [await addKey(rig, {}, 'attic'), await addKey(rig)]) {
    t.is((await posted(rig, key, '{"a":1}')).status, 200)
  }
  t.deepEqual(
    updates(rig).map((one) => (one as unknown[])[0]),
    ['attic', 'device-2'],
  )
})

test('only a key opens it, also with a gateway token; a wrong one counts and is never logged', async (t) => {
  const rig = await startStyles(t, {
    token: 'the token',
    passwordBudget: { perAddress: 2, total: 9 },
  })
  const good = await addKey(rig)
  const wrong = 'w'.repeat(43)
  t.is((await posted(rig, good, '{"a":1}')).status, 200)
  const statuses: number[] = []
  for (const token of ['short', wrong, wrong, wrong, good]) {
    const { status, text } = await posted(rig, token, '{"a":1}')
    statuses.push(status)
    t.false(text.includes(token))
  }
  t.deepEqual(statuses, [404, 404, 429, 429, 200])
  const told = JSON.stringify(rig.logger.lines)
  t.false(told.includes(good) || told.includes(wrong))
})

test('a key that lacks the right is refused', async (t) => {
  const rig = await startStyles(t)
  t.is((await posted(rig, await addKey(rig, { scopes: ['read'] }), '{"a":1}')).status, 403)
  t.deepEqual(updates(rig), [])
})
