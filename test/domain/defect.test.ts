import test from 'ava'

import { reportDefect } from '#domain/defect'

test("a report holds name, code and frames, never the message or a driver's own members", (t) => {
  const error = Object.assign(
    new Error('INSERT … VALUES (top secret)\n    at heart it is secret'),
    {
      name: 'QueryFailedError',
      parameters: ['top secret'],
      driverError: { code: 'SQLITE_BUSY', message: 'top secret' },
    },
  )
  const report = reportDefect(error)
  t.is(report.name, 'QueryFailedError')
  t.is(report.code, 'SQLITE_BUSY')
  t.true(report.frames.length > 0)
  t.false(JSON.stringify(report).includes('secret'))
})

test('a thrown value that is no error gives its type only', (t) => {
  t.deepEqual(reportDefect('top secret'), { name: 'string', frames: [] })
})
