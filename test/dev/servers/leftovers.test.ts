// Goal: a server leaves nothing behind, whether its start fails or the process around it ends.

import { execFile } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { startMariaDb } from '#src/dev/servers/mariadb'
import { startNats } from '#src/dev/servers/nats'
import { runToEnd } from '#src/dev/servers/mariadb'
import { ServerProcess } from '#src/dev/servers/server-process'
import { temporaryFolder, until } from '#test/support/gateway'
import { isAlive, locksOf } from '#test/support/leftovers'

const run = promisify(execFile)
const SERVERS = new URL('../../../src/dev/servers/', import.meta.url).href

/** Runs a script in a process that then ends with code 3. Gives the code and the output. */
async function runScript(source: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const script = `${source}\nprocess.exit(3)`
  const options = { env: { ...process.env, ...env } }
  const failed = await run(
    process.execPath,
    [...process.execArgv, '--input-type=module', '-e', script],
    options,
  ).catch((error: unknown) => error as { readonly code: number; readonly stdout: string })
  if (!('code' in failed)) throw new Error('the process ended with code 0')
  return `${failed.code} ${failed.stdout}`
}

test('at-exit/1, at-exit/2: the last registered action runs first, and a failed one prevents no other', async (t) => {
  const output = await runScript(`
    import { atExit } from '${SERVERS}at-exit.ts'
    atExit(() => process.stdout.write('first'))
    const forget = atExit(() => process.stdout.write('forgotten'))
    atExit(() => { throw new Error('broken') })
    atExit(() => process.stdout.write('last '))
    forget()`)
  t.is(output, '3 last first')
})

test('a process that exits early removes its lock files', async (t) => {
  const folder = await temporaryFolder(t)
  await runScript(
    `
    import { reservePort } from '${SERVERS}port.ts'
    await Promise.all([reservePort(), reservePort()])`,
    { TMPDIR: folder },
  )
  t.deepEqual(readdirSync(folder), [])
})

/** Makes a folder with a shell script as a program. */
async function program(t: ExecutionContext, name: string, script: string): Promise<string> {
  const folder = await temporaryFolder(t)
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return folder
}

test.serial('a nats-server that does not start releases its ports', async (t) => {
  const folder = await program(t, 'nats-server', 'echo broken >&2; exit 3')
  const starting = startNats({ env: { ...process.env, PATH: folder }, servers: 2 })
  await t.throwsAsync(starting, { message: /nats-server ended with 3: broken/ })
  t.deepEqual(locksOf(process.pid), [])
})

for (const name of ['mariadbd', 'mariadb-install-db']) {
  test.serial(`a MariaDB whose ${name} fails releases its port`, async (t) => {
    const folder = await program(t, name, 'echo broken; exit 3')
    for (const other of ['mariadb-install-db', 'my_print_defaults', 'mariadbd']) {
      if (other !== name) await writeFile(join(folder, other), '#!/bin/sh\n', { mode: 0o755 })
    }
    const starting = startMariaDb({ env: { ...process.env, PATH: folder } })
    await t.throwsAsync(starting, { message: new RegExp(`${name} ended with 3: broken`) })
    t.deepEqual(locksOf(process.pid), [])
  })
}

test('a program that does not exist can neither start as a server nor run to its end', async (t) => {
  const missing = { file: '/nowhere/program', parameters: [], env: {} }
  const server = new ServerProcess({ ...missing, readyLine: /ready/ })
  await t.throwsAsync(server.start(), { message: /ENOENT|No such file/ })
  await server.close()
  await t.throwsAsync(runToEnd(missing), { message: /could not be started/ })
})

test('a process that exits kills the programs that it runs, with their children', async (t) => {
  const folder = await program(
    t,
    'prepare',
    'sleep 60 & echo $! > "$1/id"; mv "$1/id" "$1/pid"; wait',
  )
  await runScript(`
    import { existsSync } from 'node:fs'
    import { setTimeout as delay } from 'node:timers/promises'
    import { runToEnd } from '${SERVERS}mariadb.ts'
    const parameters = ['${folder}']
    void runToEnd({ file: '${join(folder, 'prepare')}', parameters, env: process.env })
    for (let left = 3_000; left > 0 && !existsSync('${folder}/pid'); left -= 1) await delay(10)`)
  const processId = Number(readFileSync(join(folder, 'pid'), 'utf8'))
  await until(
    async () => isAlive(processId),
    (isUp) => !isUp,
  )
  t.pass()
})

test('a server reports when it ends by itself, and not when its caller ends it', async (t) => {
  const folder = await program(t, 'server', 'echo $$ > "$0.pid"; echo ready; exec sleep 60')
  const ends: string[] = []
  const server = new ServerProcess({
    file: join(folder, 'server'),
    parameters: [],
    env: process.env,
    readyLine: /ready/,
    isDetached: true,
    onEnd: (reason) => void ends.push(reason),
  })
  await server.start()
  await server.end('SIGKILL')
  t.deepEqual(ends, [])
  await server.start()
  const processId = Number(readFileSync(join(folder, 'server.pid'), 'utf8'))
  process.kill(processId, 'SIGKILL')
  await until(
    async () => ends,
    (all) => all.length > 0,
  )
  t.deepEqual(ends, ['SIGKILL'])
  await server.close()
})
