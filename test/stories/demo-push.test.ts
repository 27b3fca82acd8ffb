// The demo with pushes, as a person starts it.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import test from 'ava'
import { TEST_MS, WAIT_MS } from '#test/support/bounds'
import { program } from '#test/support/program'

test('the demo shows pushes to Apple and Google next to the deliveries', async (t) => {
  t.timeout(TEST_MS)
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...program('cli/heliograph'), 'demo', '--push', '--plain', '--seconds', '4'],
    { timeout: WAIT_MS, env: { PATH: process.env['PATH'] } },
  )
  t.regex(stdout, /push Apple {3}\S+: .* \(low\)/)
  t.regex(stdout, /push Google {2}\S+: .* \(low\)/)
  t.regex(stdout, /\d+ sent, \d+ delivered/)
})
