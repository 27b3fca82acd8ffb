import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'

import test from 'ava'

import { tryToHoldFile, holdFile } from '#src/dev-servers/held-file'
import { startMariaDb } from '#src/dev-servers/mariadb'
import { reservePort } from '#src/dev-servers/port'
import { findOrInstall, findProgram } from '#src/dev-servers/programs'
import { temporaryFolder } from '#test/support/gateway'

test('a program is found on PATH, and one that is nowhere is not', async (t) => {
  const folder = await temporaryFolder(t)
  const file = join(folder, 'nats-server')
  await writeFile(file, '#!/bin/sh\n', { mode: 0o755 })
  t.is(await findProgram('nats-server', { PATH: `/nowhere:${folder}` }), file)
  await writeFile(join(folder, 'setpriv'), 'not executable', { mode: 0o644 })
  t.not(await findProgram('setpriv', { PATH: folder }), join(folder, 'setpriv'))
})

test('a program that cannot be installed gives a sentence that names it', async (t) => {
  // Without apt-get on PATH nothing is installed, whoever runs this.
  const found = await findOrInstall('mariadbd', { PATH: '' })
  if (found.kind === 'missing') t.regex(found.reason, /apt-get install mariadb-server-core/)
  else t.regex(found.file, /mariadbd$/)
})

test('ports that are reserved together differ, and a released one is free', async (t) => {
  const ports = await Promise.all(Array.from({ length: 20 }, () => reservePort()))
  t.is(new Set(ports.map(({ port }) => port)).size, 20)
  for (const { release } of ports) await release()
})

test('programs/1: a held file is given to one at a time, and taken from a process that is gone', async (t) => {
  const file = join(await temporaryFolder(t), 'lock')
  const release = await holdFile(file, { timeoutMs: 1000 })
  t.false(await tryToHoldFile(file))
  await t.throwsAsync(holdFile(file, { timeoutMs: 10 }))
  await release()
  t.true(await tryToHoldFile(file))
  // No process has this id: it is beyond what Linux gives.
  await writeFile(file, '2147483646')
  t.true(await tryToHoldFile(file))
})

test('a MariaDB server starts, comes back on its port after a kill, and leaves nothing', async (t) => {
  const started = await startMariaDb({ env: process.env })
  if (started.kind === 'missing') {
    t.log(`not run: ${started.reason}`)
    t.not(process.env['CI'], 'true')
    return
  }
  const { server } = started
  t.teardown(() => server.stop())
  t.regex(await greeting(server.port), /MariaDB/)
  await server.kill('SIGKILL')
  await t.throwsAsync(greeting(server.port))
  await server.restart()
  t.regex(await greeting(server.port), /MariaDB/)
  await server.stop()
  await t.throwsAsync(greeting(server.port))
})

/** The first words of whatever listens on a port. */
async function greeting(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' })
  try {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    return chunk.toString('latin1')
  } finally {
    socket.destroy()
  }
}
