import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'

import test from 'ava'

import { tryLockFile, lockFile } from '#src/dev/servers/lock-file'
import { startMariaDb } from '#src/dev/servers/mariadb'
import { reservePort } from '#src/dev/servers/port'
import { findOrInstall, findProgram, installPackage } from '#src/dev/servers/programs'
import { temporaryFolder } from '#test/support/gateway'

test('a search finds an executable program on PATH, and no other file', async (t) => {
  const folder = await temporaryFolder(t)
  const file = join(folder, 'nats-server')
  await writeFile(file, '#!/bin/sh\n', { mode: 0o755 })
  t.is(await findProgram('nats-server', { PATH: `/nowhere:${folder}` }), file)
  await writeFile(join(folder, 'setpriv'), 'not executable', { mode: 0o644 })
  t.not(await findProgram('setpriv', { PATH: folder }), join(folder, 'setpriv'))
})

test('a search that cannot install a missing program says how to install it', async (t) => {
  // Without apt-get on PATH no user can install anything.
  const found = await findOrInstall('mariadbd', { PATH: '' })
  if (found.kind === 'missing') t.regex(found.reason, /apt-get install mariadb-server-core/)
  else t.regex(found.file, /mariadbd$/)
})

test('programs/2: an installation starts no service while it runs', async (t) => {
  const folder = await temporaryFolder(t)
  const policy = join(folder, 'policy-rc.d')
  // In the place of apt-get: asks the policy as an installed package does.
  const asks = `#!/bin/sh\n${policy} nats start\necho $? >> ${folder}/answers\n`
  await writeFile(join(folder, 'apt-get'), asks, { mode: 0o755 })
  const env = { PATH: `${folder}:/bin` }
  const failure = await installPackage('nats-server', env, () => Promise.resolve(true), policy)
  if (process.getuid?.() !== 0) {
    t.regex(failure, /no right to install/)
    return
  }
  t.is(await readFile(join(folder, 'answers'), 'utf8'), '101\n101\n')
  t.false(existsSync(policy))
})

test('simultaneous reservations give different ports', async (t) => {
  const ports = await Promise.all(Array.from({ length: 20 }, () => reservePort()))
  t.is(new Set(ports.map(({ port }) => port)).size, 20)
  for (const { release } of ports) await release()
})

test('programs/1: one process at a time can lock a file, also after its owner has died', async (t) => {
  const file = join(await temporaryFolder(t), 'lock')
  const release = await lockFile(file, { timeoutMs: 1000 })
  t.false(await tryLockFile(file))
  await t.throwsAsync(lockFile(file, { timeoutMs: 10 }))
  await release()
  t.true(await tryLockFile(file))
  // No process has this id: Linux gives only smaller ones.
  await writeFile(file, '2147483646')
  t.true(await tryLockFile(file))
})

test('a MariaDB server restarts on its port after a kill, and stops', async (t) => {
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

/** Gives the first bytes that the server on a port sends. */
async function greeting(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' })
  try {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    return chunk.toString('latin1')
  } finally {
    socket.destroy()
  }
}
