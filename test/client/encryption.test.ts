// Goal: what docs/encryption.md says is what the SDK does, checked by an implementation that is not
// its own.
// Method: the document's test vectors, through the SDK and through OpenSSL in Node's crypto.

import { createDecipheriv, pbkdf2Sync } from 'node:crypto'
import { readFileSync } from 'node:fs'

import test from 'ava'

import { decrypt, encrypt, keyFromBytes, keyFromPassphrase } from '#src/client/encryption'
import { HeliographError } from '#src/client/error'
import { channel } from '#test/support/session-words'

const DOCUMENT = readFileSync(new URL('../../docs/encryption.md', import.meta.url), 'utf8')

interface Vector {
  readonly passphrase: string
  readonly rounds: number
  readonly channel_id: string
  readonly key_id: string
  readonly key: string
  readonly field: string
  readonly nonce: string
  readonly text: string
  readonly ciphertext: string
}

const VECTORS = [...DOCUMENT.matchAll(/```json\n([\s\S]*?)```/g)].map(
  ([, json = '']) => JSON.parse(json) as Vector,
)
const A = channel('A')
const B = channel('B')
const bytes = (fill: number): Uint8Array<ArrayBuffer> => new Uint8Array(32).fill(fill)

test('the SDK makes and decrypts the vectors of the document', async (t) => {
  t.true(VECTORS.length >= 2)
  for (const vector of VECTORS) {
    const { passphrase, rounds, channel_id: channelId, key_id: id, field, text } = vector
    const key = await keyFromPassphrase({ id, passphrase, channelId, rounds })
    const entropy = (): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(vector.nonce, 'hex'))
    const place = { channelId, field }
    t.is(await encrypt(key, { ...place, text }, { entropy }), vector.ciphertext)
    t.is(await decrypt([key], { ...place, ciphertext: vector.ciphertext }), text)
    const same = await keyFromBytes(id, Uint8Array.from(Buffer.from(vector.key, 'hex')))
    t.is(await decrypt([same], { ...place, ciphertext: vector.ciphertext }), text)
  }
})

test('another implementation decrypts the vectors, too', (t) => {
  for (const { passphrase, rounds, channel_id, key_id, field, ...vector } of VECTORS) {
    const salt = `hg1\n${channel_id}\n${key_id}`
    const key = pbkdf2Sync(passphrase.normalize('NFKC'), salt, rounds, 32, 'sha256')
    t.is(key.toString('hex'), vector.key)
    const [, , nonce = '', sealed = ''] = vector.ciphertext.split('.')
    const data = Buffer.from(sealed, 'base64url')
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'))
    decipher.setAAD(Buffer.from(`hg1\n${channel_id}\n${field}\n${key_id}`))
    decipher.setAuthTag(data.subarray(-16))
    const text = Buffer.concat([decipher.update(data.subarray(0, -16)), decipher.final()])
    t.is(text.toString('utf8'), vector.text)
  }
})

test('encryption/1: decrypt needs the channel, the field and the key of a ciphertext', async (t) => {
  const key = await keyFromBytes('one', bytes(1))
  const place = { channelId: A, field: 'attrs.position' }
  const ciphertext = await encrypt(key, { ...place, text: 'here' })
  t.is(await decrypt([key], { ...place, channelId: A.toLowerCase(), ciphertext }), 'here')
  const changed = ciphertext.slice(0, -1) + (ciphertext.endsWith('A') ? 'Q' : 'A')
  const rows = [
    [{ ...place, channelId: B, ciphertext }, [key], 'decryption_failed'],
    [{ channelId: A, ciphertext }, [key], 'decryption_failed'],
    [{ ...place, ciphertext: changed }, [key], 'decryption_failed'],
    [{ ...place, ciphertext }, [await keyFromBytes('one', bytes(2))], 'decryption_failed'],
    [{ ...place, ciphertext }, [await keyFromBytes('two', bytes(1))], 'key_unknown'],
    [
      { ...place, ciphertext: ciphertext.replace('.one.', '.two.') },
      [await keyFromBytes('two', bytes(1))],
      'decryption_failed',
    ],
  ] as const
  for (const [encrypted, keys, code] of rows) {
    const error = await t.throwsAsync(decrypt(keys, encrypted), { instanceOf: HeliographError })
    t.is(error.code, code)
  }
})

test('decrypt uses the key that the ciphertext names, so keys can change', async (t) => {
  const keys = [await keyFromBytes('old', bytes(1)), await keyFromBytes('new', bytes(2))]
  for (const key of keys) {
    const ciphertext = await encrypt(key, { channelId: A, text: key.id })
    t.is(await decrypt(keys, { channelId: A, ciphertext }), key.id)
  }
})

test('encryption/2: the same text never gives the same ciphertext', async (t) => {
  const key = await keyFromBytes('one', bytes(1))
  const made = new Set<string>()
  for (let count = 0; count < 50; count += 1) {
    made.add(await encrypt(key, { channelId: A, text: '' }))
  }
  t.is(made.size, 50)
})

test('encryption/3: keyFromPassphrase refuses fewer rounds, empty passphrases and bad ids', async (t) => {
  const good = { id: 'one', passphrase: 'p', channelId: A }
  const rounds = { ...good, rounds: 599_999 }
  await t.throwsAsync(keyFromPassphrase(rounds), { instanceOf: RangeError })
  for (const bad of [{ id: '' }, { id: 'a.b' }, { passphrase: '' }, { channelId: 'x' }]) {
    await t.throwsAsync(keyFromPassphrase({ ...good, ...bad }), { instanceOf: TypeError })
  }
  await t.throwsAsync(keyFromBytes('one', new Uint8Array(16)), { instanceOf: TypeError })
  const key = await keyFromBytes('one', bytes(1))
  for (const field of ['', 'a b', 'a\nb', 'a'.repeat(129)]) {
    await t.throwsAsync(encrypt(key, { channelId: A, field, text: '' }), { instanceOf: TypeError })
  }
})

test('encryption/3: the same passphrase gives another key in another channel and under another id', async (t) => {
  const parts = { id: 'one', passphrase: 'the same', channelId: A }
  const key = await keyFromPassphrase(parts)
  const ciphertext = await encrypt(key, { channelId: A, text: 'a' })
  for (const other of [
    { ...parts, channelId: B },
    { ...parts, id: 'two' },
  ]) {
    const wrong = { id: 'one', key: (await keyFromPassphrase(other)).key }
    await t.throwsAsync(decrypt([wrong], { channelId: A, ciphertext }), { message: /not made/ })
  }
})

test('decrypt gives any text back unchanged, and refuses a text that is no ciphertext', async (t) => {
  const key = await keyFromBytes('one', bytes(1))
  for (const text of ['', '☀ \u0000 \ufeffa', '{"a":1}', 'x'.repeat(20_000)]) {
    const ciphertext = await encrypt(key, { channelId: A, text })
    t.is(await decrypt([key], { channelId: A, ciphertext }), text)
  }
  const whole = await encrypt(key, { channelId: A, text: 'a' })
  const odd = ['', 'a', 'hg1.one', whole.replace('hg1', 'hg2'), `${whole}.x`, `${whole}=`]
  for (const ciphertext of [...odd, whole.replace('one', 'o ne'), 'hg1.one.AAAA.AAAA']) {
    const error = await t.throwsAsync(decrypt([key], { channelId: A, ciphertext }), {
      instanceOf: HeliographError,
    })
    t.is(error.code, 'envelope_invalid')
  }
})
