import test from 'ava'

import { FAULTS, fault } from '#domain/fault'
import type { FaultCode } from '#domain/fault'
import { failure, requestIdFrom, success } from '#src/ingress/answerer'
import { STATUS, failureHeaders } from '#src/refusals/refusal'

const CONTEXT = { requestId: 'r1', acceptLanguage: '' }
const CODES = Object.keys(FAULTS) as FaultCode[]

test('every fault code has a status, and no status stands for an unknown code', (t) => {
  t.deepEqual(Object.keys(STATUS).toSorted(), CODES.toSorted())
})

test('a failure carries every member of the envelope', (t) => {
  const reply = failure(fault('title_required', { field: 'title', detail: 'title is blank' }), {
    requestId: 'r1',
    acceptLanguage: 'zh',
  })
  t.is(reply.status, 400)
  t.deepEqual(JSON.parse(reply.body), {
    success: false,
    error: 'title must not be empty: title is blank',
    error_code: 'title_required',
    problem: {
      code: 'title_required',
      category: 'validation',
      status: 400,
      title: 'title must not be empty',
      detail: 'title is blank',
      localized_message: 'title 不能为空',
      locale: 'zh-CN',
      retryable: false,
      request_id: 'r1',
    },
  })
  t.deepEqual(reply.headers, [['content-language', 'zh-CN']])
})

const categories: readonly (readonly [code: FaultCode, category: string, retryable: boolean])[] = [
  ['authentication_failed', 'auth', false],
  ['rate_limited', 'rate_limit', true],
  ['channel_not_found', 'not_found', false],
  ['op_id_scope_conflict', 'conflict', false],
  ['body_too_large', 'validation', false],
  ['server_busy', 'too_busy', true],
  ['submission_not_accepted', 'too_busy', true],
  ['submission_outcome_unknown', 'too_busy', false],
  ['internal_error', 'internal', true],
]

test('a fault that says it may not be repeated names no time to come back', (t) => {
  const unknown = fault('submission_outcome_unknown', { retryAfterMs: 1000, retryable: false })
  const { status, body, headers } = failure(unknown, CONTEXT)
  t.is(status, 503)
  t.false((JSON.parse(body) as { problem: { retryable: boolean } }).problem.retryable)
  t.false(headers.some(([name]) => name === 'retry-after'))
})

for (const [code, category, retryable] of categories) {
  test(`${code} is of category ${category} and ${retryable ? '' : 'not '}retryable`, (t) => {
    const { problem } = JSON.parse(failure(fault(code), CONTEXT).body) as {
      problem: Record<string, unknown>
    }
    t.is(problem['category'], category)
    t.is(problem['retryable'], retryable)
    t.false('detail' in problem)
  })
}

const waits: readonly (readonly [ms: number | undefined, seconds: string])[] = [
  [undefined, '1'],
  [0, '1'],
  [1, '1'],
  [1_000, '1'],
  [1_001, '2'],
]

for (const [retryAfterMs, seconds] of waits) {
  test(`a wait of ${retryAfterMs ?? 'no'} ms becomes ${seconds} whole seconds`, (t) => {
    const more = retryAfterMs === undefined ? {} : { retryAfterMs }
    const reply = failure(fault('server_busy', more), CONTEXT)
    t.deepEqual(
      reply.headers.find(([name]) => name === 'retry-after'),
      ['retry-after', seconds],
    )
  })
}

test('429 tells the limit that was reached', (t) => {
  t.deepEqual(failureHeaders(fault('rate_limited', { limit: 60, retryAfterMs: 59_001 })), [
    ['ratelimit-limit', '60'],
    ['ratelimit-remaining', '0'],
    ['ratelimit-reset', '60'],
    ['retry-after', '60'],
  ])
})

test('401 names the scheme, 426 the protocol', (t) => {
  const of = (code: FaultCode): string[] =>
    failure(fault(code), CONTEXT).headers.map(([name]) => name)
  t.true(of('authentication_failed').includes('www-authenticate'))
  t.true(of('websocket_upgrade_required').includes('upgrade'))
})

test('a success is the data in its envelope', (t) => {
  t.is(success({ op_id: 'x' }).body, '{"success":true,"data":{"op_id":"x"}}')
})

const ids: readonly (readonly [header: string, kept: boolean])[] = [
  ['a', true],
  ['AZaz09._-', true],
  ['x'.repeat(64), true],
  ['x'.repeat(65), false],
  ['', false],
  ['with space', false],
  ['line\nbreak', false],
  ['ü', false],
]

for (const [header, kept] of ids) {
  test(`the request id ${JSON.stringify(header.slice(0, 12))}(${header.length}) is ${kept ? 'kept' : 'replaced'}`, (t) => {
    t.is(
      requestIdFrom(header, () => 'new'),
      kept ? header : 'new',
    )
  })
}
