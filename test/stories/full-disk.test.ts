// Goal: a gateway that cannot write says so to whoever asks whether it is ready, and goes on by
// itself once it can.
// Method: the system's bound on the size of a process's files, as if the disk was full.

import { execFileSync, spawnSync } from 'node:child_process'

import test from 'ava'

import { PASSWORD, createChannels } from '#test/support/device'
import { get, post, startGateway, until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'

const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0
const onLinux = hasPrlimit ? test : test.skip

function boundFiles({ process: { pid } }: Gateway, bytes: number | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`])
}

interface Dependency {
  readonly name: string
  readonly ready: boolean
}

async function readiness(gateway: Gateway) {
  const { status, body } = await get(gateway, '/readyz')
  const dependencies = body.data['dependencies'] as readonly Dependency[]
  return { status, unready: dependencies.filter(({ ready }) => !ready).map(({ name }) => name) }
}

onLinux('a gateway whose disk is full is not ready, and is again once there is room', async (t) => {
  const gateway = await startGateway(t)
  const [channel_id] = await createChannels(gateway, 1)
  const reading = { channel_id, password: PASSWORD, thing_id: 'boiler', observed_at: 1 }
  const submit = () =>
    post(gateway, '/thing/update', { ...reading, attrs: { text: 'x'.repeat(9e3) } })
  t.is((await submit()).status, 200)
  t.is((await readiness(gateway)).status, 200)

  boundFiles(gateway, 4_096)
  t.is((await submit()).status, 503)
  const refused = await until(
    () => readiness(gateway),
    ({ status }) => status === 503,
  )
  t.deepEqual(refused.unready, ['log', 'database'])

  boundFiles(gateway, 'unlimited')
  await until(
    () => readiness(gateway),
    ({ status }) => status === 200,
  )
  t.is((await submit()).status, 200)
})
