// Goal: the order of checks.

import test from 'ava'

import { CHANNEL, CREDENTIALS } from '#test/support/making'
import { startIngress } from '#test/support/start-ingress'
import { TOKEN, JSON_HEADERS, HUGE } from '#test/support/pipeline-requests'

interface Stage {
  readonly fails: string
  readonly init: RequestInit
  readonly path?: string
  readonly token?: string
  readonly status: number
  readonly code: string
}

// Each row fails at its own stage and at every stage below it; the last row fails nowhere. The
// channel's password is wrong in all but the last three, the log refuses in all but the last.
const stages: readonly Stage[] = [
  {
    fails: 'route',
    path: '/nowhere',
    token: TOKEN,
    init: { method: 'POST', body: HUGE },
    status: 404,
    code: 'route_not_found',
  },
  {
    fails: 'method',
    token: TOKEN,
    init: { method: 'PUT', body: HUGE },
    status: 405,
    code: 'method_not_allowed',
  },
  {
    fails: 'token',
    token: TOKEN,
    init: { method: 'POST', body: HUGE },
    status: 401,
    code: 'authentication_failed',
  },
  { fails: 'budget', init: { method: 'POST', body: HUGE }, status: 429, code: 'rate_limited' },
  { fails: 'size', init: { method: 'POST', body: HUGE }, status: 413, code: 'body_too_large' },
  {
    fails: 'content type',
    init: { method: 'POST', body: '{"nonsense":' },
    status: 400,
    code: 'missing_json_content_type',
  },
  {
    fails: 'JSON',
    init: { method: 'POST', headers: JSON_HEADERS, body: '{"nonsense":' },
    status: 400,
    code: 'invalid_json_syntax',
  },
  {
    fails: 'schema',
    init: {
      method: 'POST',
      headers: JSON_HEADERS,
      body: JSON.stringify({ channel_id: CHANNEL, password: 'wrong password', title: '' }),
    },
    status: 400,
    code: 'title_required',
  },
  {
    fails: 'credentials',
    init: {
      method: 'POST',
      headers: JSON_HEADERS,
      body: JSON.stringify({
        channel_id: CHANNEL,
        password: 'wrong password',
        title: 'other',
        op_id: 'used',
      }),
    },
    status: 404,
    code: 'channel_not_found',
  },
  {
    fails: 'idempotency',
    init: {
      method: 'POST',
      headers: JSON_HEADERS,
      body: JSON.stringify({ ...CREDENTIALS, title: 'other', op_id: 'used' }),
    },
    status: 409,
    code: 'op_id_payload_conflict',
  },
  {
    fails: 'admission',
    init: {
      method: 'POST',
      headers: JSON_HEADERS,
      body: JSON.stringify({ ...CREDENTIALS, title: 'other', op_id: 'fresh' }),
    },
    status: 503,
    code: 'submission_not_accepted',
  },
]

for (const { fails, init, path = '/message', token = '', status, code } of stages) {
  test(`R1: a request that fails at ${fails} and below is answered ${status} ${code}`, async (t) => {
    const total = ['route', 'method', 'token', 'budget'].includes(fails) ? 1 : 100
    const rig = await startIngress(t, { token, passwordBudget: { perAddress: 100, total } })
    const headers = token === '' ? {} : { authorization: `Bearer ${token}` }
    const first = { ...CREDENTIALS, title: 'first', op_id: 'used' }
    t.is((await rig.post('/message', first, headers)).status, 200)
    rig.sink.answer = () => ({ kind: 'fault', code: 'submission_not_accepted' })
    const answer = await rig.send(path, init)
    t.is(answer.status, status)
    t.is(answer.json['error_code'], code)
  })
}
