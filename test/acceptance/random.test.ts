import test from 'ava'

import { hexSource } from '#src/acceptance/random'
import { realRuntime } from '#test/support/real-runtime'

test('ids are 32 lower-case hex characters and do not repeat over several blocks', (t) => {
  const next = hexSource(realRuntime.entropy)
  const ids = Array.from({ length: 1_000 }, () => next())
  t.true(ids.every((id) => /^[0-9a-f]{32}$/.test(id)))
  t.is(new Set(ids).size, ids.length)
})
