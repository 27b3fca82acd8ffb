import test from 'ava'

import { isFault } from '#domain/fault'
import { parseChannelId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { Credentials, VERIFIED_BYTES_MAX } from '#src/acceptance/credentials'
import type { Derive } from '#src/acceptance/password-work'
import { FakeChannels } from '#test/support/fake-channels'
import { FakeTime } from '#test/support/fake-timers'
import { CHANNEL, PASSWORD } from '#test/support/making'
import { realRuntime } from '#test/support/real-runtime'
import { addChannel, passwordWorkFor, quickDerive } from '#test/support/start-ingress'

async function setUp(held = false) {
  const channels = new FakeChannels()
  const time = new FakeTime(1_000_000)
  const channelId = await addChannel(channels, CHANNEL, PASSWORD)
  const gate = { computed: 0, release: (): void => {}, wait: Promise.resolve() }
  if (held) gate.wait = new Promise<void>((resolve) => (gate.release = resolve))
  const derive: Derive = async (password, salt, parameters) => {
    gate.computed += 1
    await gate.wait
    return quickDerive(password, salt, parameters)
  }
  const work = passwordWorkFor(channels, derive)
  const credentials = new Credentials({
    channels,
    work,
    monotonicMs: time.monotonicMs,
    timers: time,
    entropy: realRuntime.entropy,
  })
  return { channels, time, channelId, gate, credentials }
}

const unknownChannel = (): ChannelId => {
  const id = parseChannelId('7ZZZZZZZZZZZZZZZZZZZZZZZZW')
  if (id === undefined) throw new Error('bad fixture')
  return id
}

const verdictOf = (answer: Answer<object>): string => (isFault(answer) ? answer.code : 'open')

async function replacePassword(channels: FakeChannels, password: string): Promise<void> {
  await addChannel(channels, CHANNEL, password)
}

test('kept-answers/1: many checks of one password at once compute it once', async (t) => {
  const { credentials, channelId, gate } = await setUp(true)
  const checks = Array.from({ length: 50 }, async () => credentials.check(channelId, PASSWORD))
  const others = credentials.check(channelId, 'another password')
  gate.release()
  const verdicts = (await Promise.all(checks)).map(verdictOf)
  t.deepEqual(new Set(verdicts), new Set(['open']))
  t.is(verdictOf(await others), 'channel_not_found')
  t.is(gate.computed, 2)
})

test('a verified password is computed once for as long as it is known', async (t) => {
  const { credentials, channelId, channels, gate } = await setUp()
  for (let count = 0; count < 5; count += 1) {
    t.is(verdictOf(await credentials.check(channelId, PASSWORD)), 'open')
  }
  t.is(gate.computed, 1)
  t.is(channels.reads, 1)
  t.is(credentials.size(), 1)
})

test('a known password is answered at once, an unknown one with a promise', async (t) => {
  const { credentials, channelId } = await setUp()
  for (const [password, verdict] of [
    [PASSWORD, 'open'],
    ['wrong password', 'channel_not_found'],
  ] as const) {
    const first = credentials.check(channelId, password)
    t.true(first instanceof Promise)
    t.is(verdictOf(await first), verdict)
    const second = credentials.check(channelId, password)
    t.is(second instanceof Promise ? 'a promise' : verdictOf(second), verdict)
  }
})

test('credentials/1: an unknown channel costs one computation and answers like a wrong password', async (t) => {
  const { credentials, channelId, gate } = await setUp()
  const wrong = await credentials.check(channelId, 'wrong password')
  t.is(gate.computed, 1)
  const unknown = await credentials.check(unknownChannel(), PASSWORD)
  t.is(gate.computed, 2)
  t.deepEqual(unknown, wrong)
  t.is(verdictOf(wrong), 'channel_not_found')
})

test('a refusal is known for ten seconds', async (t) => {
  const { credentials, channelId, gate, time } = await setUp()
  await credentials.check(channelId, 'wrong password')
  time.advance(9_999)
  await credentials.check(channelId, 'wrong password')
  t.is(gate.computed, 1)
  time.advance(1)
  await credentials.check(channelId, 'wrong password')
  t.is(gate.computed, 2)
})

test('a forgotten channel takes the new password and not the old one, at once', async (t) => {
  const { credentials, channelId, channels } = await setUp()
  t.is(verdictOf(await credentials.check(channelId, PASSWORD)), 'open')
  t.is(verdictOf(await credentials.check(channelId, 'new password')), 'channel_not_found')
  await replacePassword(channels, 'new password')
  credentials.forget(channelId)
  t.is(verdictOf(await credentials.check(channelId, PASSWORD)), 'channel_not_found')
  t.is(verdictOf(await credentials.check(channelId, 'new password')), 'open')
})

test('forgetting one channel leaves the others known', async (t) => {
  const { credentials, channels, channelId, gate } = await setUp()
  const other = await addChannel(channels, '7ZZZZZZZZZZZZZZZZZZZZZZZZW', PASSWORD)
  await credentials.check(channelId, PASSWORD)
  await credentials.check(other, PASSWORD)
  credentials.forget(other)
  await credentials.check(channelId, PASSWORD)
  t.is(gate.computed, 2)
  t.is(credentials.size(), 1)
})

test('kept-answers/2: a check that was under way while the password changed is computed again', async (t) => {
  const { credentials, channelId, channels, gate } = await setUp(true)
  const old = credentials.check(channelId, PASSWORD)
  const fresh = credentials.check(channelId, 'new password')
  await new Promise<void>((resolve) => setImmediate(resolve))
  t.is(gate.computed, 2)
  await replacePassword(channels, 'new password')
  credentials.forget(channelId)
  gate.release()
  t.is(verdictOf(await old), 'channel_not_found')
  t.is(verdictOf(await fresh), 'open')
  t.is(verdictOf(await credentials.check(channelId, PASSWORD)), 'channel_not_found')
})

test('kept-answers/2: a channel that changes all the time is answered with server_busy in the end', async (t) => {
  const { credentials, channelId, channels } = await setUp()
  channels.meanwhile = () => credentials.forget(channelId)
  t.is(verdictOf(await credentials.check(channelId, PASSWORD)), 'server_busy')
  t.is(channels.reads, 3)
  t.is(credentials.size(), 0)
})

test('kept-answers/5: a store that rejects does not turn a verified password into a refusal', async (t) => {
  const { credentials, channelId, channels, time } = await setUp()
  await credentials.check(channelId, PASSWORD)
  channels.meanwhile = () => Promise.reject(new Error('the store is away'))
  time.advance(60_000)
  t.is(verdictOf(await credentials.check(channelId, PASSWORD)), 'open')
  const reads = channels.reads
  time.advance(4_999)
  t.is(verdictOf(await credentials.check(channelId, PASSWORD)), 'open')
  t.is(channels.reads, reads, 'the store is left alone for a while')
  time.advance(1)
  channels.meanwhile = () => undefined
  await replacePassword(channels, 'new password')
  t.is(verdictOf(await credentials.check(channelId, PASSWORD)), 'channel_not_found')
})

test('credentials/2: a check waits one second for a store that does not answer', async (t) => {
  const { credentials, channelId, channels, time } = await setUp()
  await credentials.check(channelId, PASSWORD)
  channels.meanwhile = () => new Promise(() => undefined)
  time.advance(60_000)
  const check = credentials.check(channelId, PASSWORD)
  await new Promise<void>((resolve) => setImmediate(resolve))
  time.advance(1_000)
  t.is(verdictOf(await check), 'open')
})

test('kept-answers/5: an answer that a notice removed opens nothing while the store is away', async (t) => {
  const { credentials, channelId, channels } = await setUp()
  await credentials.check(channelId, PASSWORD)
  credentials.forget(channelId)
  channels.meanwhile = () => Promise.reject(new Error('the store is away'))
  await t.throwsAsync(async () => credentials.check(channelId, PASSWORD))
})

test('kept-answers/4: refusals never push out verified passwords', async (t) => {
  const { credentials, channelId, gate } = await setUp()
  await credentials.check(channelId, PASSWORD)
  for (let count = 0; count < 1_100; count += 1) {
    await credentials.check(channelId, `wrong password ${count}`)
  }
  t.is(credentials.size(), 1_001)
  const before = gate.computed
  await credentials.check(channelId, PASSWORD)
  t.is(gate.computed, before)
})

test('kept-answers/4: a verified password beyond the bound in bytes pushes out the one that was used longest ago', async (t) => {
  const { credentials, channelId, channels, gate } = await setUp()
  const row = channels.rows.get(channelId)
  const anyPassword = new Credentials({
    channels: { credentials: async () => row, changePassword: async () => false },
    work: {
      hash: async () => '',
      isWeak: () => false,
      waiting: () => 0,
      matches: async () => {
        gate.computed += 1
        return true
      },
    },
    monotonicMs: () => 0,
    timers: { after: () => () => undefined },
    entropy: realRuntime.entropy,
  })
  t.is(credentials.size(), 0)
  await anyPassword.check(channelId, 'p0')
  const countMax = Math.floor(VERIFIED_BYTES_MAX / anyPassword.bytes())
  for (let at = 1; at < countMax; at += 1) await anyPassword.check(channelId, `p${at}`)
  await anyPassword.check(channelId, 'p0')
  await anyPassword.check(channelId, 'one more')
  t.is(anyPassword.size(), countMax)
  t.is(gate.computed, countMax + 1)
  await anyPassword.check(channelId, 'p0')
  t.is(gate.computed, countMax + 1)
  await anyPassword.check(channelId, 'p1')
  t.is(gate.computed, countMax + 2)
})

test('kept-answers/4: the 1,001st check under way is refused as busy', async (t) => {
  const { credentials, channelId, channels } = await setUp()
  let release = (): void => {}
  const slowStore = new Promise<void>((resolve) => (release = resolve))
  channels.meanwhile = () => slowStore
  const checks = Array.from({ length: 1_000 }, async (_, at) =>
    credentials.check(channelId, `p${at}`),
  )
  t.is(verdictOf(await credentials.check(channelId, 'one too many')), 'server_busy')
  release()
  await Promise.all(checks)
})

test('kept-answers/3: after a minute the store is asked again, and only a changed hash is computed', async (t) => {
  const { credentials, channelId, channels, gate, time } = await setUp()
  await credentials.check(channelId, PASSWORD)
  time.advance(60_000)
  t.is(verdictOf(await credentials.check(channelId, PASSWORD)), 'open')
  t.is(channels.reads, 2)
  t.is(gate.computed, 1)
  await replacePassword(channels, 'new password')
  time.advance(59_999)
  t.is(verdictOf(await credentials.check(channelId, PASSWORD)), 'open')
  time.advance(1)
  t.is(verdictOf(await credentials.check(channelId, PASSWORD)), 'channel_not_found')
})

test('a store that does not answer fails the check and is asked again by the next', async (t) => {
  const { credentials, channelId, channels } = await setUp()
  channels.meanwhile = () => Promise.reject(new Error('down'))
  await t.throwsAsync(async () => credentials.check(channelId, PASSWORD))
  channels.meanwhile = () => {}
  t.is(verdictOf(await credentials.check(channelId, PASSWORD)), 'open')
})

test('kept-answers/3: after a loss every kept answer is compared with the store, without a new scrypt', async (t) => {
  const { credentials, channels, channelId, gate } = await setUp()
  const other = await addChannel(channels, '7ZZZZZZZZZZZZZZZZZZZZZZZZW', PASSWORD)
  for (const id of [channelId, other]) await credentials.check(id, PASSWORD)
  t.is(verdictOf(await credentials.check(channelId, 'new password')), 'channel_not_found')
  await replacePassword(channels, 'new password') // The notice of it is lost.
  credentials.recheckAll()
  t.is(verdictOf(await credentials.check(channelId, PASSWORD)), 'channel_not_found')
  t.is(verdictOf(await credentials.check(channelId, 'new password')), 'open')
  const { computed } = gate
  t.is(verdictOf(await credentials.check(other, PASSWORD)), 'open')
  t.is(gate.computed, computed)
})

test('kept-answers/2: a check that was under way at a loss is computed again', async (t) => {
  const { credentials, channels, channelId, gate } = await setUp(true)
  const old = credentials.check(channelId, PASSWORD)
  await new Promise<void>((resolve) => setImmediate(resolve))
  await replacePassword(channels, 'new password')
  credentials.recheckAll()
  gate.release()
  t.is(verdictOf(await old), 'channel_not_found')
})

test('kept-answers/5: after a loss a store that is away keeps verified passwords in force', async (t) => {
  const { credentials, channels, channelId } = await setUp()
  await credentials.check(channelId, PASSWORD)
  channels.meanwhile = () => Promise.reject(new Error('the store is away'))
  credentials.recheckAll()
  t.is(verdictOf(await credentials.check(channelId, PASSWORD)), 'open')
})
