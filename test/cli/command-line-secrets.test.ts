// Goal: each error has the right exit code, and no output shows a secret.

import test from 'ava'

import { refusal, success } from '#test/support/fake-process-context'
import { CHANNEL, PASSWORD, TOKEN, run } from '#test/support/command-line'

test('command-line/1: wrong usage ends with 2 and sends no request', async (t) => {
  const wrong = [
    '',
    'channel',
    'unknown',
    'send',
    'send Frost tonight --title t',
    'send one --title two',
    'send --title t --severity urgent',
    'send --title t --delay 9s',
    'send --title t --delay 31d',
    'send --title t --delay soon',
    'thing update boiler',
    'event update e1 --event-time 5',
    'thing update boiler temperature==3',
    'send --title t --occurred-at yesterday',
    'status',
    'status a b',
    'status o --nonsense',
    'thing update boiler novalue',
    'thing list --limit 1000001',
    'thing list --limit 0',
    'channel delete',
    'channel info --channel tooshort',
    '--url ftp://a.example status o',
    '--url http://user:pass@a.example status o',
    '--url nonsense status o',
    'demo --seconds 0',
    'demo --threshold 101',
    'demo --url http://a.example',
    `watch --channel ${CHANNEL} --channel ${CHANNEL} --password a --password b --password c`,
  ]
  for (const words of wrong) {
    const { context, exitCode } = await run(words)
    t.is(exitCode, 2, words)
    t.deepEqual(context.requests, [], words)
    t.true(context.diagnostics.length > 0, words)
  }
  for (const env of [{}, { HELIOGRAPH_CHANNEL: CHANNEL }, { HELIOGRAPH_PASSWORD: PASSWORD }]) {
    t.is((await run('channel info', { env })).exitCode, 2)
  }
})

test('wrong usage tells what is allowed', async (t) => {
  const rows: [words: string, told: string][] = [
    ['send', 'error: [title...] is missing: the title of the Message'],
    ['send t --severity urgent', 'error: --severity: allowed: critical, high, normal, low'],
    [
      'send t --delay 5s',
      'error: --delay: allowed: a whole number of s, m, h or d, from 10s to 30d',
    ],
    [
      'history --header --format {seq}',
      'error: --header is for the table; --format makes lines without headings',
    ],
    ['history --thing boiler', 'error: unknown option --thing; did you mean --entity?'],
    ['thing update x', 'error: say what changes: key=value, or an option such as --title'],
    [
      'thing create sensor-7 a=1',
      'error: values are written as key=value; the gateway makes the id: `update` takes one of your own',
    ],
    ['help thign', 'error: unknown command; did you mean thing?'],
    ['history --since 90', 'error: --since: a span has a unit, such as 90m'],
    [
      'history --since 3w',
      'error: --since: a time is 90s, 15m, 2h, 7d, all, or Unix seconds or milliseconds, or an ISO 8601 date',
    ],
    ['thing get a b', 'error: too many arguments: <thing_id> expected, 2 given'],
    [
      'thing update x temperature==3',
      'error: values are written with one =; a text that begins with it is key="=…"',
    ],
  ]
  for (const [words, told] of rows) {
    const { context } = await run(words)
    t.deepEqual(context.diagnostics, [told])
  }
})

test('a value that is not allowed is told before the password is missed', async (t) => {
  for (const words of ['send t --severity urgent', 'send t --delay 5s']) {
    const { context } = await run(words, { env: {} })
    t.regex(context.shown, /^error: --\w+: allowed: /, words)
  }
})

test('command-line/1: a refusal gives its exit code, its error code, and the time to try again', async (t) => {
  const refused = await run('thing update boiler a=1', {
    answer: () => refusal(503, 'server_busy', { retryable: true, headers: { 'retry-after': '7' } }),
  })
  t.is(refused.exitCode, 6)
  t.deepEqual(refused.context.printed, [])
  t.deepEqual(refused.context.diagnostics, [
    'server_busy: a sentence about it; try again in 7 s; request id r1',
  ])
  const missing = await run('status o1', { answer: () => refusal(404, 'send_status_not_found') })
  t.is(missing.exitCode, 5)
  t.deepEqual(missing.context.diagnostics, ['send_status_not_found: a sentence about it'])
  const astray = await run('thing list', { answer: () => refusal(404, 'route_not_found') })
  t.is(astray.exitCode, 3)
  t.regex(astray.context.shown, /^route_not_found: .*is --url/)
  const expired = await run('thing list', { answer: () => refusal(403, 'key_expired') })
  t.is(expired.exitCode, 4)
  t.regex(expired.context.shown, /^key_expired: .*heliograph key create/)
})

test('the error for a gateway that does not answer has a hint', async (t) => {
  const { context, exitCode } = await run('thing update boiler a=1', {
    answer: () => {
      throw new TypeError(`fetch failed for ${PASSWORD}`)
    },
  })
  t.is(exitCode, 3)
  t.regex(context.diagnostics[0] ?? '', /^connection_failed: .*doctor/)
  t.notRegex(context.shown, new RegExp(PASSWORD))
})

test('command-line/2, access/1: no failure shows a password or a token', async (t) => {
  const failing = [
    `channel info --password ${PASSWORD} --token ${TOKEN}`,
    `status o --token ${TOKEN}`,
    `status o ${PASSWORD}`,
    `status o --passwort=${PASSWORD}`,
    `--tokne=${TOKEN} status o`,
    `-p${PASSWORD} status o`,
    `send --title t --severity ${PASSWORD}`,
    `thing update boiler ${PASSWORD}`,
    `event create ${PASSWORD}`,
    `channel info --channel ${PASSWORD}`,
    `send --title t --occurred-at ${PASSWORD}`,
    `thing list --limit ${PASSWORD}`,
    `--url http://user:${PASSWORD}@a.example status o`,
    `--url ${PASSWORD} status o`,
    `watch --channel ${CHANNEL} --password ${PASSWORD} --token ${TOKEN}`,
    `channel create Home --password ${PASSWORD}`,
    `channel password --new-password ${PASSWORD}`,
    PASSWORD,
    `channel ${PASSWORD}`,
  ]
  for (const words of failing) {
    const { context, exitCode } = await run(words, {
      answer: () => refusal(404, 'channel_not_found'),
    })
    t.not(exitCode, 0, words)
    t.true(context.shown.length > 0, words)
    t.notRegex(context.shown, new RegExp(`${PASSWORD}|${TOKEN}`), words)
  }
})

test('a key file that cannot be written ends the watch, and no output shows the key', async (t) => {
  const deviceKey = 'ab'.repeat(16)
  const { context, exitCode } = await run('watch --device-key-file /dev/null/key', {
    answer: () => success({ device_key: deviceKey, issued_new_key: true }),
  })
  t.is(exitCode, 1)
  t.like(context.requests[0], { url: 'http://127.0.0.1:8080/device/register' })
  t.regex(context.shown, /^error: .*\/dev\/null/)
  t.notRegex(context.shown, new RegExp(deviceKey))
})
