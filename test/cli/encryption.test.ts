// Goal: the SDK and the command line decrypt a text that the command line encrypted, and nobody does
// without the passphrase.
// Method: run whole command lines against a recorded fetch.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import test from 'ava'

import { decrypt, keyFromPassphrase } from '#src/client/encryption'
import { success } from '#test/support/fake-process-context'
import type { FakeOptions } from '#test/support/fake-process-context'
import { CHANNEL, ENV, run } from '#test/support/command-line'

const PASSPHRASE = 'correct horse battery staple'
const SECRET_ENV = { ...ENV, HELIOGRAPH_PASSPHRASE: PASSPHRASE }
const TEXT = 'The code is 4711'

/** The body of the only request. */
async function bodyOf(words: string, options: FakeOptions): Promise<Record<string, unknown>> {
  const { context, exitCode } = await run(words, options)
  if (exitCode !== 0) throw new Error(context.shown)
  return context.requests[0]?.body as Record<string, unknown>
}

test('the SDK decrypts the ciphertext of the command line, in each model', async (t) => {
  const key = await keyFromPassphrase({
    id: 'default',
    passphrase: PASSPHRASE,
    channelId: CHANNEL,
  })
  for (const words of ['send --title t', 'thing update boiler a=1', 'event create --title e']) {
    const input = `${TEXT}\n`
    const body = await bodyOf(`${words} --plaintext-file -`, { env: SECRET_ENV, input })
    t.false(JSON.stringify(body).includes(TEXT))
    const ciphertext = String(body['ciphertext'])
    t.is(await decrypt([key], { channelId: CHANNEL, ciphertext }), TEXT)
  }
})

test('a passphrase comes from a file, with a key id and rounds from options', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'passphrase')
  writeFileSync(file, `${PASSPHRASE}\n`)
  const words = `send --title t --plaintext-file - --passphrase-file ${file} --rounds 600001`
  const { ciphertext } = await bodyOf(`${words} --key-id 2026`, { env: ENV, input: TEXT })
  t.regex(String(ciphertext), /^hg1\.2026\./)
  const key = await keyFromPassphrase({
    id: '2026',
    passphrase: PASSPHRASE,
    channelId: CHANNEL,
    rounds: 600_001,
  })
  t.is(await decrypt([key], { channelId: CHANNEL, ciphertext: String(ciphertext) }), TEXT)
})

const entryOf = (ciphertext: unknown) => ({
  delivery_id: 'd-1',
  channel_id: CHANNEL,
  seq: 1,
  op_id: 'op',
  model: 'message',
  action: 'send',
  entity_id: 'm',
  accepted_at: 0,
  payload: { title: 'A new code', ciphertext },
  // A gateway that says what it cannot know.
  plaintext: 'spoofed',
})

test('history shows the text of a ciphertext when it has the passphrase', async (t) => {
  const sent = await bodyOf('send --title t --plaintext-file -', { env: SECRET_ENV, input: TEXT })
  const answer = () => success({ items: [entryOf(sent['ciphertext'])] })
  const shown = async (words: string, env = SECRET_ENV) =>
    (await run(words, { env, answer })).context
  t.deepEqual((await shown("history --format '{title}: {plaintext}'")).printed, [
    `A new code: ${TEXT}`,
  ])
  t.regex((await shown('history')).printed[0] ?? '', /\(encrypted\) plaintext="The code is 4711"$/)
  t.like(JSON.parse((await shown('history --json')).printed[0] ?? ''), { plaintext: TEXT })

  for (const env of [ENV, { ...SECRET_ENV, HELIOGRAPH_PASSPHRASE: 'another one' }]) {
    const closed = await shown('history --json', env as typeof SECRET_ENV)
    t.false(closed.shown.includes(TEXT))
    t.false(closed.shown.includes('spoofed'))
    t.is(closed.printed.length, 1)
    const why = /^d-1: decryption_failed: /
    if (env === ENV) t.deepEqual(closed.diagnostics, [])
    else t.regex(closed.diagnostics[0] ?? '', why)
  }
  const other = await shown('history --json --key-id other')
  t.regex(other.diagnostics[0] ?? '', /^d-1: key_unknown: /)
})

test('wrong usage of encryption sends nothing', async (t) => {
  const rows: readonly (readonly [words: string, env: FakeOptions['env']])[] = [
    ['send --title t --plaintext x --ciphertext y', SECRET_ENV],
    ['send --title t --plaintext x --plaintext-file -', SECRET_ENV],
    ['send --title t --plaintext-file -', ENV],
    ['send --title t --passphrase-file -', ENV],
    ['send --title t --plaintext-file /nonexistent', SECRET_ENV],
    ['send --title t --plaintext-file - --key-id a/b', SECRET_ENV],
    ['send --title t --plaintext-file -', { ...SECRET_ENV, HELIOGRAPH_KEY_ID: 'a/b' }],
    ['send --title t --plaintext-file - --rounds 599999', SECRET_ENV],
  ]
  for (const [words, env] of rows) {
    const { context, exitCode } = await run(words, { env: env ?? {}, input: TEXT })
    t.is(exitCode, 2, words)
    t.deepEqual(context.requests, [], words)
    t.false(context.shown.includes(PASSPHRASE), words)
  }
})

test('a text or a passphrase as an argument causes a warning that names better ways', async (t) => {
  const words = "send --title t --plaintext x --passphrase 'five random words are enough'"
  const { context } = await run(words, { env: ENV })
  t.deepEqual(
    context.diagnostics.map((line) => /use (.*)$/.exec(line)?.[1]),
    ['--plaintext-file', 'HELIOGRAPH_PASSPHRASE or --passphrase-file'],
  )
})
