// Goal: the device-key style refuses in the shape of the tool.

import test from 'ava'

import { JSON_TYPE, PATH_KEY, startStyles } from '#test/support/compatibility-rig'
import { CHANNEL, PASSWORD } from '#test/support/making'
import { undocumented } from '#test/support/documented'
import { rawRequest } from '#test/support/raw-request'
import type { RawRequest } from '#test/support/raw-request'

const AT = `/compat-devicekey/${PATH_KEY}`

interface Refused extends RawRequest {
  readonly what: string
  readonly status: number
  readonly message: RegExp
}

const PUSH = { line: 'POST /compat-devicekey/push', headers: [JSON_TYPE] } as const

const REFUSED: readonly Refused[] = [
  {
    what: 'a wrong key',
    line: `GET /compat-devicekey/${CHANNEL}:wrong+password/M`,
    status: 404,
    message: /^failed to get device token/,
  },
  { what: 'no key', ...PUSH, body: '{}', status: 400, message: /^device key is empty$/ },
  { what: 'bad JSON', ...PUSH, body: '{', status: 400, message: /^request bind failed/ },
  {
    what: 'device_keys of a wrong type',
    ...PUSH,
    body: '{"device_keys":7}',
    status: 400,
    message: /device_keys must be an array/,
  },
  {
    what: 'too many keys',
    ...PUSH,
    body: JSON.stringify({ device_keys: Array<string>(101).fill('k') }),
    status: 400,
    message: /at most 100 keys/,
  },
  {
    what: 'a body beyond the limit',
    ...PUSH,
    body: ' '.repeat(32_769),
    status: 413,
    message: /32768/,
  },
  { what: 'an escape that is none', line: `GET ${AT}/100%`, status: 400, message: /percent/ },
]

for (const { what, status, message, ...request } of REFUSED) {
  test(`device-key style: ${what} is refused in the tool's shape`, async (t) => {
    const rig = await startStyles(t)
    const answered = await rawRequest(rig.port, request)
    t.is(answered.status, status, answered.text)
    t.is(answered.json['code'], status)
    t.regex(String(answered.json['message']), message)
    t.true(Number(answered.json['timestamp']) > 0)
    t.is(await undocumented(rig, request, answered), undefined)
    t.deepEqual(rig.sink.accepted, [])
    t.false(answered.text.includes(PASSWORD))
  })
}

test('device-key style: token and budget are refused in the shape of the tool', async (t) => {
  const rig = await startStyles(t, { token: 'secret', passwordBudget: { perAddress: 1, total: 9 } })
  const line = `GET ${AT}/M`
  const basic = [`Authorization: Basic ${btoa('x:secret')}`]
  t.is((await rawRequest(rig.port, { line, headers: basic })).status, 200)
  t.like((await rawRequest(rig.port, { line })).json, { code: 401 })
  const guess = ['Authorization: Bearer guess']
  await rawRequest(rig.port, { line, headers: guess })
  t.like((await rawRequest(rig.port, { line, headers: guess })).json, { code: 429 })
})
