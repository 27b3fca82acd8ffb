// Goal: people acknowledge, choose their pushes and ask who got an entry from a shell: what is sent,
// and what they read.
// Method: whole command lines against a recorded fetch.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import test from 'ava'

import { CHANNEL, PASSWORD, run } from '#test/support/command-line'
import { success } from '#test/support/fake-process-context'

const CREDENTIALS = { channel_id: CHANNEL, password: PASSWORD }
const KEY = 'ab'.repeat(16)

for (const [words, body] of [
  ['event ack e1 --event-time 5', { event_time: 5 }],
  [
    "event ack e1 --by anna --note 'On my way' --snooze 2h --event-time 5",
    { event_time: 5, by: 'anna', note: 'On my way', snooze: '2h' },
  ],
] as const) {
  test(`${words} acknowledges`, async (t) => {
    const { context, exitCode } = await run(words)
    t.is(exitCode, 0, context.shown)
    t.is(new URL(context.requests[0]?.url ?? '').pathname, '/event/acknowledge')
    t.deepEqual(context.requests[0]?.body, { ...CREDENTIALS, event_id: 'e1', ...body })
  })
}

test('receipts shows a line for each device', async (t) => {
  const web = { platform: 'web', channel_type: 'webpush' }
  const subscribers = [
    { subscriber_id: 's1', ...web, state: 'acknowledged', label: 'Hall' },
    { subscriber_id: 's2', ...web, state: 'waiting' },
  ]
  const { context, exitCode } = await run('receipts op-1', {
    answer: () => success({ subscribers }),
  })
  t.is(exitCode, 0, context.shown)
  t.deepEqual(context.requests[0]?.body, { ...CREDENTIALS, op_id: 'op-1' })
  t.regex(context.printed.join('\n'), /s1\s+acknowledged\s+web\s+webpush\s+Hall[^]*s2\s+waiting/)
})

test('subscription notify sends the preferences in a file, and names one that has none', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'heliograph-notify-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const [key, night] = [join(folder, 'device.key'), join(folder, 'night.json')]
  const notify = {
    quiet: [{ from: '22:00', to: '07:00', time_zone: 'Europe/Berlin', unless: 'critical' }],
  }
  await writeFile(key, KEY)
  await writeFile(night, JSON.stringify(notify))
  const words = (file: string): string =>
    `subscription notify ${CHANNEL} ${file} --device-key-file ${key}`
  const { context, exitCode } = await run(words(night))
  t.is(exitCode, 0, context.shown)
  t.is(new URL(context.requests[0]?.url ?? '').pathname, '/channel/notify')
  t.deepEqual(context.requests[0]?.body, { device_key: KEY, channel_id: CHANNEL, notify })
  const wrong = await run(words(key))
  t.is(wrong.exitCode, 2)
  t.deepEqual(wrong.context.requests, [])
})
