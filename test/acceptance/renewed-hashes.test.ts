// Goal: hashes of lesser parameters give way, and nobody notices.

import test from 'ava'

import { isFault } from '#domain/fault'
import { acceptanceRig } from '#test/support/acceptance-rig'
import { CREDENTIALS, NOW_MS } from '#test/support/making'
import { until } from '#test/support/until'

const CALLER = { receivedAtMs: NOW_MS }

test('credentials/3: a weak hash is made anew after a proof, and keys stay', async (t) => {
  const { acceptance, channels, channelId } = await acceptanceRig()
  const row = channels.rows.get(channelId)
  if (row === undefined) return t.fail()
  const hashNow = () => channels.rows.get(channelId)?.passwordHash ?? ''
  const weak = row.passwordHash.replace('$5$', '$1$')
  channels.rows.set(channelId, { ...row, passwordHash: weak })
  const wrong = await acceptance.channels.info({ ...CREDENTIALS, password: 'a wrong one' }, CALLER)
  t.true(isFault(wrong))
  t.is(hashNow(), weak)
  t.false(isFault(await acceptance.keys.list(CREDENTIALS, CALLER)))
  await until('the new hash', () => hashNow() !== weak)
  t.regex(hashNow(), /^scrypt-hmac\$16384\$8\$5\$/)
  t.true(channels.passwordsOf(channelId).includes(weak), 'what was made for the weak one is kept')
  t.false(isFault(await acceptance.keys.create(CREDENTIALS, CALLER)))
})
