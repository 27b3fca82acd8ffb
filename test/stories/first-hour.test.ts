// Goal: what the README and docs/sensors.md tell a beginner to type works as it stands there.
// Method: their blocks are run, in their order, against a gateway of the test.

import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import test from 'ava'

import { createClient } from '#src/client/client'
import { PASSWORD } from '#test/support/device'
import { blocksOf } from '#test/support/document-blocks'
import { temporaryFolder, until } from '#test/support/gateway'
import { program } from '#test/support/program'
import { standingOpenGateway } from '#test/support/standing'

const ROOT = new URL('../../', import.meta.url)
const SDK = new URL('src/client/index.ts', ROOT).href
const GATEWAY = 'http://127.0.0.1:8080'

const NPX = `npx() { shift; node ${program('cli/heliograph').join(' ')} "$@"; }\n`

interface Run {
  readonly folder: string
  readonly baseUrl: string
  readonly env?: Readonly<Record<string, string>>
}

/** What a script prints; rejects when a command fails. */
async function shell(script: string, { folder, baseUrl, env = {} }: Run): Promise<string> {
  const { stdout } = await promisify(execFile)(
    'bash',
    ['-euc', NPX + script.replaceAll(GATEWAY, baseUrl)],
    {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: folder, HELIOGRAPH_URL: baseUrl, ...env },
    },
  )
  return stdout
}

test('the first minute of the README needs no id to be copied, and shows what is sent', async (t) => {
  const { baseUrl } = await standingOpenGateway()
  const folder = await temporaryFolder(t)
  const [create = '', send = '', list = '', http = ''] = blocksOf(
    'README.md',
    '## The first minute',
    'sh',
  )
  t.regex(await shell(create, { folder, baseUrl }), /^channel_id +[0-9A-Z]{26}$/m)
  // Here the watch ends by itself.
  const bounded = send.replace('--since 1h &', '--since 1h --count 2 --timeout 60 &')
  const watched = await shell(`${bounded}wait`, { folder, baseUrl })
  t.regex(watched, /Frost tonight/)
  t.regex(watched, /sensor-7.*3\.5/)
  t.regex(await shell(list, { folder, baseUrl }), /sensor-7/)
  t.regex(await shell(http, { folder, baseUrl }), /"success":true/)
})

test('every way of docs/sensors.md to send a reading over HTTP is taken', async (t) => {
  const { baseUrl } = await standingOpenGateway()
  const folder = await temporaryFolder(t)
  const client = createClient({ baseUrl })
  const { channel_id } = await client.channel.create({ channel_name: 'A', password: PASSWORD })
  const owner = { HELIOGRAPH_CHANNEL: channel_id, HELIOGRAPH_PASSWORD: PASSWORD }
  const [make = ''] = blocksOf('docs/sensors.md', '## 1. Give it a key', 'sh')
  const made = await shell(make, { folder, baseUrl, env: owner })
  const env = { HELIOGRAPH_KEY: /^key +(\S+)$/m.exec(made)?.[1] ?? '' }
  const proof = { channel_id, password: PASSWORD }
  /** Resolves once the Thing has the temperature, as a 200 comes before it is applied. */
  const reads = async (temperature: number, thing_id = 'greenhouse-7'): Promise<void> => {
    await until(
      () => client.thing.list(proof),
      ({ items }) =>
        items.some((one) => one.thing_id === thing_id && one.attrs['temperature'] === temperature),
    )
  }

  const [curl = '', _mqtt, script = ''] = blocksOf('docs/sensors.md', '## 2. Send', 'sh')
  t.regex(await shell(curl, { folder, baseUrl, env }), /"success":true/)
  await reads(3.5)

  const [python = ''] = blocksOf('docs/sensors.md', '## 2. Send', 'python')
  await writeFile(join(folder, 'sensor.py'), python.replaceAll(GATEWAY, baseUrl))
  await shell('python3 sensor.py', { folder, baseUrl, env })
  await reads(3.4)

  await shell(script, { folder, baseUrl, env })
  await reads(3.2)

  const [sdk = ''] = blocksOf('docs/sensors.md', '## 2. Send', 'js')
  await writeFile(join(folder, 'fleet.mjs'), sdk.replace("'heliograph'", `'${SDK}'`))
  const node = `${process.execPath} ${process.execArgv.join(' ')} fleet.mjs`
  const outcomes = await shell(node, { folder, baseUrl, env })
  t.is(outcomes, 'accepted greenhouse-7-north\naccepted greenhouse-7-south\n')

  const [rule = ''] = blocksOf('docs/sensors.md', '## 4. Notice when it falls silent', 'sh')
  await shell(rule, { folder, baseUrl, env: owner })
  await until(
    () => client.rule.list(proof),
    ({ items }) => items.length === 1,
  )
  t.pass()
})
