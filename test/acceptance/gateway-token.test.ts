import test from 'ava'

import { tokenCheck } from '#src/acceptance/gateway-token'
import type { TokenVerdict } from '#src/acceptance/gateway-token'
import { startIngress } from '#test/support/start-ingress'

const LONGEST = 'x'.repeat(4096)

const rows: readonly (readonly [token: string, header: string, expected: TokenVerdict])[] = [
  ['', '', 'open'],
  ['', 'Bearer anything', 'open'],
  ['secret', '', 'absent'],
  ['secret', 'Bearer secret', 'valid'],
  ['secret', 'bearer secret', 'valid'],
  ['secret', 'BEARER   secret', 'valid'],
  ['secret', 'Bearer Secret', 'wrong'],
  ['secret', 'Bearer secret more', 'wrong'],
  ['secret', 'Bearer', 'wrong'],
  ['secret', 'Bearersecret', 'wrong'],
  ['secret', 'secret', 'wrong'],
  ['secret', 'Basic secret', 'wrong'],
  ['secret', 'Bearer secre', 'wrong'],
  ['secret', 'Bearer secret\0', 'wrong'],
  ['secret', 'Bearer secrets', 'wrong'],
  ['sécret', 'Bearer sécret', 'valid'],
  ['sécret', 'Bearer secret', 'wrong'],
  [LONGEST, `Bearer ${LONGEST}`, 'valid'],
  [LONGEST, `Bearer ${LONGEST}x`, 'wrong'],
]

for (const [token, header, expected] of rows) {
  const shown = `${header.slice(0, 24)}(${header.length})`
  test(`with the token ${token.slice(0, 8)}(${token.length}) the header ${shown} is ${expected}`, (t) => {
    t.is(tokenCheck(token)(header), expected)
  })
}

test('the longest token opens the gateway over HTTP, and a longer one is answered', async (t) => {
  const rig = await startIngress(t, { token: LONGEST })
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  t.is((await rig.get('/healthz', bearer(LONGEST))).status, 200)
  const wrong = await rig.get('/healthz', bearer(`${LONGEST}x`))
  t.is(wrong.json['error_code'], 'authentication_failed')
})
