import test from 'ava'

import { aboutWebPush } from '#src/cli/doctor/examine'
import type { Finding } from '#src/cli/doctor/finding'

// Each row has what the profile says of Web Push, and the result of the check.
const ROWS: readonly (readonly [profile: unknown, result: Finding['result']])[] = [
  [undefined, 'skipped'],
  [{ public_key: `B${'a'.repeat(86)}` }, 'ok'],
  [{ public_key: 'short' }, 'problem'],
  [{}, 'problem'],
]

test('the doctor checks that browsers can take the key of Web Push', (t) => {
  for (const [profile, result] of ROWS) t.is(aboutWebPush(profile).result, result)
})
