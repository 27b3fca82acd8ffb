// Goal: the commands of the command line do their work at a real gateway.
// Method: one gateway with two carriers; command lines one after the other, in this process with
// real requests, and one as a process of its own.

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import test from 'ava'

import { split } from '#test/support/command-line'
import { freePort } from '#test/support/free-port'
import { startGateway, temporaryFolder } from '#test/support/gateway'
import { program } from '#test/support/program'
import { json, runAt as run } from '#test/support/real-command-line'
import type { Env } from '#test/support/real-command-line'
import { standingGateway } from '#test/support/standing'

test.serial('each command does its work at a real gateway', async (t) => {
  const gateway = await standingGateway()
  const folder = await temporaryFolder(t)
  const base: Env = {
    PATH: process.env['PATH'],
    XDG_STATE_HOME: folder,
    XDG_CONFIG_HOME: folder,
    HELIOGRAPH_URL: gateway.baseUrl,
  }
  await run('config set token', base, gateway.token)
  const made = await run('channel create Greenhouse --json', base)
  t.is(made.exitCode, 0, made.diagnostics.join())
  const { channel_id: channelId, password } = json(made.printed[0])
  const env: Env = {
    ...base,
    HELIOGRAPH_CHANNEL: String(channelId),
    HELIOGRAPH_PASSWORD: String(password),
  }
  const readings = join(folder, 'readings.csv')
  const rows = Array.from({ length: 20 }, (_, at) => `sensor-${at},${1_600_000_000 + at},${at}.5`)
  writeFileSync(readings, ['thing_id,observed_at,temperature', ...rows].join('\n'))

  /** Runs a command line that must end with this code; gives its lines. */
  const ends = async (exitCode: number, words: string, other: Env = env) => {
    const ended = await run(words, other)
    t.is(ended.exitCode, exitCode, `${words}: ${ended.diagnostics.join()}`)
    return ended.printed
  }
  const waits = async (words: string): Promise<void> => {
    const [line] = await ends(0, `${words} --json`)
    t.like(json((await ends(0, `status ${String(json(line)['op_id'])} --wait --json`))[0]), {
      status: 'sent',
    })
  }

  await waits("send --title 'Frost tonight' --severity high --link https://x.example")
  await waits('thing update sensor-7 temperature=3.5 mode=eco --title North')
  t.deepEqual(json((await ends(0, 'thing get sensor-7 --json'))[0])['attrs'], {
    temperature: 3.5,
    mode: 'eco',
  })
  const [event] = await ends(0, 'event create --title Pump --thing sensor-7 --json')
  const eventId = String(json(event)['event_id'])
  await waits(`event close ${eventId} --status solved`)
  t.regex((await ends(0, 'event list --state closed'))[0] ?? '', new RegExp(`^${eventId}\tclosed`))
  t.like(json((await ends(0, 'channel info --json'))[0]), { things: 1, open_events: 0 })
  t.like(json((await ends(0, `channel exists ${String(channelId)} --json`))[0]), { exists: true })
  const key = json((await ends(0, 'key create --label script --json'))[0])
  t.is((await ends(0, 'key list --json')).length, 1)
  await ends(0, `key revoke ${String(key['key_id'])}`)
  await ends(5, `key revoke ${String(key['key_id'])}`)

  const [summary] = await ends(0, `import ${readings} --connections 4 --json`)
  t.like(json(summary), { rows: 20, accepted: 20, rejected: 0 })
  await waits('thing update sensor-0 last=true')
  t.is((await ends(0, 'thing list --all --json')).length, 20)
  t.is((await ends(0, 'thing list --limit 3')).length, 3)
  t.is(
    (await ends(0, "history --model message --format '{title} {severity}'"))[0],
    'Frost tonight high',
  )

  await ends(7, 'watch --model event --count 1 --timeout 1')
  const all = await ends(0, "watch --since all --count 24 --timeout 100 --format '{seq}'")
  t.deepEqual(
    all,
    Array.from({ length: 24 }, (_, at) => String(at + 1)),
  )
  const told = join(folder, 'told')
  const watching = ends(
    0,
    `watch --count 1 --timeout 100 --model message --exec 'echo $HELIOGRAPH_TITLE > ${told}'`,
  )
  await waits('send --title Thunder')
  await watching
  await ends(0, `channel unsubscribe ${String(channelId)}`)

  await ends(0, 'channel rename North')
  const [changed] = await ends(0, 'channel password --json')
  await ends(4, 'thing get sensor-7')
  const after = { ...env, HELIOGRAPH_PASSWORD: String(json(changed)['password']) }
  await ends(5, 'thing get sensor-99', after)
  await ends(0, 'channel delete --yes', after)
  await ends(4, 'channel info', after)
})

test.serial('the doctor names each problem and each passed check', async (t) => {
  const port = await freePort(t)
  const gateway = await startGateway(t, {
    env: {
      SERVICE_PRIVATE_TRANSPORTS: 'wss,tcp',
      SERVICE_PRIVATE_TCP_ADDR: '127.0.0.1:0',
      SERVICE_PRIVATE_TCP_TLS: 'off',
    },
  })
  const env: Env = { HELIOGRAPH_URL: gateway.baseUrl, HELIOGRAPH_TOKEN: gateway.token }
  const found = async (words: string, own: Env) => {
    const { exitCode, printed } = await run(`doctor --json ${words}`, own)
    const findings = printed.map((line) => json(line))
    const results: Record<string, unknown> = {}
    for (const { check, result } of findings) results[String(check)] = result
    return [exitCode, results]
  }
  const well = { name: 'ok', connection: 'ok', certificate: 'skipped', health: 'ok' }
  t.deepEqual(await found('', env), [
    1,
    {
      ...well,
      readiness: 'ok',
      clock: 'ok',
      profile: 'ok',
      WebSocket: 'ok',
      // It speaks plain TCP here, which no device of the internet could use.
      TCP: 'problem',
      QUIC: 'skipped',
      'Web Push': 'skipped',
      MQTT: 'skipped',
      channel: 'skipped',
    },
  ])
  const { health: _health, ...reached } = well
  t.deepEqual(await found('', { ...env, HELIOGRAPH_TOKEN: 'wrong' }), [
    1,
    { ...reached, token: 'problem' },
  ])
  t.deepEqual(await found('', { ...env, HELIOGRAPH_URL: `http://127.0.0.1:${port}` }), [
    1,
    { name: 'ok', connection: 'problem' },
  ])
  t.deepEqual(await found('', { HELIOGRAPH_URL: gateway.baseUrl.replace('http:', 'https:') }), [
    1,
    { name: 'ok', connection: 'ok', certificate: 'problem' },
  ])
  t.deepEqual(await found('', { HELIOGRAPH_URL: 'http://heliograph.invalid' }), [
    1,
    { name: 'problem' },
  ])
})

test.serial('as a process it prints results, and ends with its exit code', async (t) => {
  const gateway = await standingGateway()
  const asProcess = async (words: string) =>
    await promisify(execFile)(process.execPath, [...program('cli/heliograph'), ...split(words)], {
      env: { HELIOGRAPH_URL: gateway.baseUrl, HELIOGRAPH_TOKEN: gateway.token },
      cwd: '/',
    }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: unknown) => error as { code: number; stdout: string; stderr: string },
    )
  const made = await asProcess('channel create Home --json')
  t.like(made, { code: 0, stderr: '' })
  t.like(json(made.stdout), { channel_name: 'Home' })
  const missing = await asProcess('status unknown-operation --json')
  t.like(missing, { code: 5, stdout: '' })
  t.like(json(missing.stderr)['error'], { code: 'send_status_not_found', exit_code: 5 })
})
