// Goal: passwords that strangers try first are refused where the operator says so.

import test from 'ava'

import { isFault } from '#domain/fault'
import { COMMON_PASSWORDS, isCommonPassword } from '#src/passwords/common-passwords'
import { acceptanceRig } from '#test/support/acceptance-rig'
import { CREDENTIALS, NOW_MS } from '#test/support/making'

const CALLER = { receivedAtMs: NOW_MS }
const NAME = { channel_name: 'A channel' }

test('the most common passwords are known in any case, and no other', async (t) => {
  t.is(COMMON_PASSWORDS, 10_000)
  for (const common of ['password', ' Password ', '12345678', 'QWERTYUIOP']) {
    t.true(await isCommonPassword(common), common)
  }
  for (const other of ['correct horse battery', 'passwordpasswordpassword', '']) {
    t.false(await isCommonPassword(other), other)
  }
})

for (const commonPasswords of ['warned', 'refused'] as const) {
  test(`where common passwords are ${commonPasswords}, a new one is taken or not`, async (t) => {
    const { acceptance } = await acceptanceRig({ commonPasswords })
    const outcomes = [
      await acceptance.channels.create({ ...NAME, password: 'Password1' }, CALLER),
      await acceptance.channels.changePassword(
        { ...CREDENTIALS, new_password: 'iloveyou' },
        CALLER,
      ),
    ]
    for (const [at, field] of ['password', 'new_password'].entries()) {
      const outcome = outcomes[at]
      t.is(isFault(outcome), commonPasswords === 'refused')
      const detail = `${field} is one of the 10,000 most common passwords`
      if (isFault(outcome)) t.like(outcome, { code: 'invalid_password', field, detail })
    }
    const good = await acceptance.channels.create({ ...NAME, password: 'correct horse' }, CALLER)
    t.false(isFault(good))
  })
}
