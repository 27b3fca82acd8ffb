// Goal: the order of checks.

import test from 'ava'

import { fault } from '#domain/fault'
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
    fails: 'budget',
    init: {
      method: 'POST',
      headers: JSON_HEADERS,
      body: JSON.stringify({ channel_id: CHANNEL, password: 'wrong password', title: '' }),
    },
    status: 429,
    code: 'rate_limited',
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

type State = 'idle' | 'draining' | 'full'

// 503 comes last: a gateway that drains or is full refuses with the same codes, and says so itself
// only where nothing else is wrong.
const cases = (['idle', 'draining', 'full'] as const).flatMap((state) =>
  stages.map((stage) => ({ state, ...stage, code: codeIn(state, stage.code) })),
)

function codeIn(state: State, code: string): string {
  return state !== 'idle' && code === 'submission_not_accepted' ? 'server_busy' : code
}

for (const { state, fails, init, path = '/message', token = '', status, code } of cases) {
  test(`pipeline/1: ${state}, a request that fails at ${fails} and below is answered ${status} ${code}`, async (t) => {
    const total = ['route', 'method', 'token', 'budget'].includes(fails) ? 1 : 100
    const rig = await startIngress(t, { token, passwordBudget: { perAddress: 100, total } })
    const headers = token === '' ? {} : { authorization: `Bearer ${token}` }
    const first = { ...CREDENTIALS, title: 'first', op_id: 'used' }
    t.is((await rig.post('/message', first, headers)).status, 200)
    rig.sink.answer = () => fault('submission_not_accepted')
    if (state === 'draining') await rig.ingress.drain()
    if (state === 'full') Object.assign(rig.ingress.http, { inFlight: 20_000 })
    const answer = await rig.send(path, init)
    t.is(answer.status, status)
    t.is(answer.json['error_code'], code)
  })
}
