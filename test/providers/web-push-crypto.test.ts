// Method: the vectors of the RFCs, and other implementations on the other side.

import { createECDH, createPublicKey, randomBytes, verify } from 'node:crypto'
import { createRequire } from 'node:module'

import test from 'ava'

import { readSubscription } from '#domain/push/subscription'
import { subscriptionAt } from '#test/support/web-push-server'
import { encrypt } from '#src/providers/webpush/encryption'
import { authorizationOf, keysOf, vapidKeys } from '#src/providers/webpush/vapid'
import { SUBJECT, decrypted } from '#test/support/web-push'

const require = createRequire(import.meta.url)
const webPush = require('web-push') as {
  readonly getVapidHeaders: (...values: readonly (string | number)[]) => {
    readonly Authorization: string
  }
}
const bytes = (base64url: string): Buffer => Buffer.from(base64url, 'base64url')

test('a push of RFC 8291 is encrypted as its section 5 has it', (t) => {
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(bytes('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'))
  const sender = { pair, point: pair.getPublicKey() }
  const receiver = {
    point: bytes(
      'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    ),
    secret: bytes('BTBZMqHH6r4Tts7J_aSIgg'),
  }
  const cleartext = Buffer.from('When I grow up, I want to be a watermelon')
  const body = encrypt(cleartext, receiver, { salt: bytes('DGv6ra1nlYgDCS1FRnbzlw'), sender })
  t.is(
    body.toString('base64url'),
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml' +
      'mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT' +
      'pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  )
})

test('another implementation decrypts pushes of every size, of at most 4,096 bytes', (t) => {
  for (const size of [1, 2, 15, 16, 17, 700, 3_992, 3_993]) {
    const subscription = subscriptionAt('https://push.example/1')
    const { keys } = readSubscription(subscription.json) ?? { keys: { p256dh: '', auth: '' } }
    const receiver = { point: bytes(keys.p256dh), secret: bytes(keys.auth) }
    const body = encrypt(Buffer.alloc(size, 'é'), receiver, { salt: randomBytes(16) })
    t.is(body.length, size + 103)
    t.is(decrypted({ body }, subscription), Buffer.alloc(size, 'é').toString())
  }
})

test('no two pushes of one content are alike', (t) => {
  const { json } = subscriptionAt('https://push.example/1')
  const { keys } = readSubscription(json) ?? { keys: { p256dh: '', auth: '' } }
  const receiver = { point: bytes(keys.p256dh), secret: bytes(keys.auth) }
  const salt = randomBytes(16)
  const bodies = [1, 2].map(() => encrypt(Buffer.from('same'), receiver, { salt }))
  t.false(bodies[0]?.subarray(16).equals(bodies[1]?.subarray(16) ?? Buffer.alloc(0)))
})

const NOW_MS = 1_800_000_000_000
const AUDIENCE = 'https://push.example'

const partsOf = (authorization: string) => {
  const [, header = '', claims = '', signature = '', key = ''] =
    /^vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), k=([\w-]+)$/.exec(authorization) ?? []
  return {
    header,
    claims: JSON.parse(bytes(claims).toString()) as object,
    claims64: claims,
    signature,
    key,
  }
}

test('a token of VAPID names origin, contact and an end within a day, and its key verifies it', async (t) => {
  const kept = new Map<string, string>()
  const secrets = {
    kept: async (name: string, first: string) => {
      if (!kept.has(name)) kept.set(name, first)
      return kept.get(name) ?? ''
    },
  }
  const keys = await vapidKeys(secrets)
  t.is((await vapidKeys(secrets)).publicKey, keys.publicKey, 'the pair is made once')
  const token = authorizationOf(keys, { audience: AUDIENCE, subject: SUBJECT, nowMs: NOW_MS })
  const { header, claims, claims64, signature, key } = partsOf(token)
  // RFC 8292, 2.4
  t.is(header, 'eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9')
  t.deepEqual(claims, { aud: AUDIENCE, exp: NOW_MS / 1_000 + 43_200, sub: SUBJECT })
  t.is(key, keys.publicKey)
  const point = bytes(key)
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  }
  const publicKey = createPublicKey({ format: 'jwk', key: jwk })
  const signed = Buffer.from(`${header}.${claims64}`)
  const how = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const
  t.true(verify('sha256', signed, how, bytes(signature)))
})

test('another implementation makes the same token of the same key', (t) => {
  const d = 'yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'
  const keys = keysOf(d)
  const nowMs = Date.now()
  const end = Math.floor((nowMs + 12 * 3_600_000) / 1_000)
  const { Authorization: made } = webPush.getVapidHeaders(
    AUDIENCE,
    SUBJECT,
    keys.publicKey,
    d,
    'aes128gcm',
    end,
  )
  const { claims, header, key } = partsOf(made)
  const ours = partsOf(authorizationOf(keys, { audience: AUDIENCE, subject: SUBJECT, nowMs }))
  t.like(ours, { claims, header, key })
})
