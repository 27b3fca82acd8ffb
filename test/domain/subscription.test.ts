// Goal: a PushSubscription of any library is kept in one form. Method: one row a change.

import test from 'ava'

import { readSubscription, subscriptionText } from '#domain/push/subscription'

const P256DH =
  'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'
const AUTH = 'BTBZMqHH6r4Tts7J_aSIgg'
const ENDPOINT = 'https://push.example/1'
const KEYS = { p256dh: P256DH, auth: AUTH }
const KEPT = `{"keys":{"auth":"${AUTH}","p256dh":"${P256DH}"},"endpoint":"${ENDPOINT}"}`
const long = (characters: number): string => `https://push.example/${'x'.repeat(characters - 21)}`

// A change of the subscription, and whether it is one still.
const ROWS: readonly (readonly [change: object, isOne: boolean])[] = [
  [{}, true],
  [{ expirationTime: null, more: [1] }, true],
  [{ keys: { p256dh: P256DH.replaceAll('-', '+').replaceAll('_', '/'), auth: `${AUTH}==` } }, true],
  [{ endpoint: 'HTTPS://PUSH.EXAMPLE:443/1' }, true],
  [{ endpoint: undefined }, false],
  [{ endpoint: 5 }, false],
  [{ endpoint: '/1' }, false],
  [{ endpoint: 'ftp://push.example/1' }, false],
  [{ endpoint: 'https://u:p@push.example/1' }, false],
  [{ endpoint: `${ENDPOINT}#a` }, false],
  [{ endpoint: long(2_001) }, false],
  [{ keys: undefined }, false],
  [{ keys: { auth: AUTH } }, false],
  [{ keys: { ...KEYS, p256dh: P256DH.slice(1) } }, false],
  [{ keys: { ...KEYS, p256dh: `C${P256DH.slice(1)}` } }, false],
  [{ keys: { ...KEYS, auth: AUTH.slice(1) } }, false],
  [{ keys: { ...KEYS, auth: `${AUTH}A` } }, false],
]

test('a subscription is kept in one form, and anything else is none', (t) => {
  for (const [change, isOne] of ROWS) {
    const sent = JSON.stringify({ endpoint: ENDPOINT, keys: KEYS, ...change })
    const found = readSubscription(sent)
    t.is(found && subscriptionText(found), isOne ? KEPT : undefined, sent)
  }
  const longest = JSON.stringify({ endpoint: long(2_000), keys: KEYS })
  t.is(readSubscription(longest)?.endpoint.length, 2_000)
  for (const text of ['', '{', 'null', '[]', '"x"']) t.is(readSubscription(text), undefined, text)
})
