import test from 'ava'

import { refusalsBy } from '#src/refusals/rejection'

test('a store that is away is told once a second, a defect each time, and a busy store never', (t) => {
  let nowMs = 1_000
  let told = 0
  const refusalOf = refusalsBy(() => nowMs)
  // Each row has an error, the milliseconds since the one before, and how many were told by then.
  const rows = [
    ['StoreError', 0, 1, 'server_busy'],
    ['NoAnswer', 999, 1, 'server_busy'],
    ['StoreDefect', 0, 2, 'server_busy'],
    ['TypeError', 0, 3, 'internal_error'],
    ['StoreBusy', 0, 3, 'server_busy'],
    ['StoreError', 1, 4, 'server_busy'],
    ['StoreError', -5_000, 5, 'server_busy'],
  ] as const
  for (const [name, laterMs, count, code] of rows) {
    nowMs += laterMs
    const error = Object.assign(new Error('a reason'), { name })
    const { code: given } = refusalOf(error, () => (told += 1))
    t.deepEqual([given, told], [code, count], `${name} after ${laterMs} ms`)
  }
})
