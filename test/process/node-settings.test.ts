// Goal: a gateway has its settings of Node and of the allocator, however it was started.
// Method: start one with neither, and look at the process.

import { readFileSync } from 'node:fs'

import test from 'ava'

import { NODE_FLAGS } from '#src/process/node-settings'
import { startGateway } from '#test/support/gateway'

const onLinux = process.platform === 'linux' ? test : test.skip

onLinux(
  'a process without the settings of a gateway replaces itself by one with them',
  async (t) => {
    const given = '--stack-trace-limit=11'
    const gateway = await startGateway(t, { env: { MALLOC_ARENA_MAX: '3' }, flags: [given] })
    const { pid } = gateway.process
    const partsOf = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8').split('\0')
    const words = partsOf('cmdline')
    for (const flag of [...NODE_FLAGS, given]) t.true(words.includes(flag), flag)
    const environment = partsOf('environ')
    t.true(environment.some((entry) => /^MALLOC_MMAP_THRESHOLD_=\d+$/.test(entry)))
    t.true(environment.includes('MALLOC_ARENA_MAX=3'), 'what the operator sets stays')
  },
)
