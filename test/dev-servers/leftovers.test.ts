// Goal: nothing of a server stays behind, whether its start fails or the process around it ends.

import { execFile } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { startMariaDb } from '#src/dev-servers/mariadb'
import { startNats } from '#src/dev-servers/nats'
import { runToEnd } from '#src/dev-servers/run-to-end'
import { ServerProcess } from '#src/dev-servers/server-process'
import { temporaryFolder, until } from '#test/support/gateway'
import { isAlive, locksOf } from '#test/support/leftovers'

const run = promisify(execFile)
const SERVERS = new URL('../../src/dev-servers/', import.meta.url).href

/** The output of a process that runs this and then ends with code 3. */
async function endOf(source: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const script = `${source}\nprocess.exit(3)`
  const options = { env: { ...process.env, ...env } }
  const failed = await run(
    process.execPath,
    [...process.execArgv, '--input-type=module', '-e', script],
    options,
  ).catch((error: unknown) => error as { readonly code: number; readonly stdout: string })
  if (!('code' in failed)) throw new Error('it ended well')
  return `${failed.code} ${failed.stdout}`
}

test('X1, X2: at the end the last goes first, and one that fails stops no other', async (t) => {
  const said = await endOf(`
    import { atExit } from '${SERVERS}at-exit.ts'
    atExit(() => process.stdout.write('first'))
    const forget = atExit(() => process.stdout.write('forgotten'))
    atExit(() => { throw new Error('broken') })
    atExit(() => process.stdout.write('last '))
    forget()`)
  t.is(said, '3 last first')
})

test('a process that ends in the middle releases its files', async (t) => {
  const folder = await temporaryFolder(t)
  await endOf(
    `
    import { reservePort } from '${SERVERS}port.ts'
    await Promise.all([reservePort(), reservePort()])`,
    { TMPDIR: folder },
  )
  t.deepEqual(readdirSync(folder), [])
})

/** A folder with a program that is a shell script. */
async function program(t: ExecutionContext, name: string, script: string): Promise<string> {
  const folder = await temporaryFolder(t)
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return folder
}

test.serial('a nats-server that does not start gives its ports back', async (t) => {
  const folder = await program(t, 'nats-server', 'echo broken >&2; exit 3')
  const starting = startNats({ env: { ...process.env, PATH: folder }, servers: 2 })
  await t.throwsAsync(starting, { message: /nats-server ended with 3: broken/ })
  t.deepEqual(locksOf(process.pid), [])
})

for (const name of ['mariadbd', 'mariadb-install-db']) {
  test.serial(`a MariaDB whose ${name} fails gives its port back`, async (t) => {
    const folder = await program(t, name, 'echo broken; exit 3')
    for (const other of ['mariadb-install-db', 'my_print_defaults', 'mariadbd']) {
      if (other !== name) await writeFile(join(folder, other), '#!/bin/sh\n', { mode: 0o755 })
    }
    const starting = startMariaDb({ env: { ...process.env, PATH: folder } })
    await t.throwsAsync(starting, { message: new RegExp(`${name} ended with 3: broken`) })
    t.deepEqual(locksOf(process.pid), [])
  })
}

test('a program that cannot be started is no server, and no preparation', async (t) => {
  const missing = { file: '/nowhere/program', parameters: [], env: {} }
  const server = new ServerProcess({ ...missing, readyLine: /ready/ })
  await t.throwsAsync(server.start(), { message: /ENOENT|No such file/ })
  await server.close()
  await t.throwsAsync(runToEnd(missing), { message: /could not be started/ })
})

test('programs that a preparation started end with the process', async (t) => {
  const folder = await program(t, 'prepare', 'sleep 60 & echo $! > "$1/pid"; wait')
  await endOf(`
    import { existsSync } from 'node:fs'
    import { setTimeout as delay } from 'node:timers/promises'
    import { runToEnd } from '${SERVERS}run-to-end.ts'
    const parameters = ['${folder}']
    void runToEnd({ file: '${join(folder, 'prepare')}', parameters, env: process.env })
    while (!existsSync('${folder}/pid')) await delay(10)`)
  const processId = Number(readFileSync(join(folder, 'pid'), 'utf8'))
  await until(
    async () => isAlive(processId),
    (isUp) => !isUp,
  )
  t.pass()
})

test('a server reports an end by itself, and not one by its caller', async (t) => {
  const folder = await program(t, 'server', 'echo $$ > "$0.pid"; echo ready; exec sleep 60')
  const told: string[] = []
  const server = new ServerProcess({
    file: join(folder, 'server'),
    parameters: [],
    env: process.env,
    readyLine: /ready/,
    isApart: true,
    onEnd: (how) => void told.push(how),
  })
  await server.start()
  await server.end('SIGKILL')
  t.deepEqual(told, [])
  await server.start()
  const processId = Number(readFileSync(join(folder, 'server.pid'), 'utf8'))
  process.kill(processId, 'SIGKILL')
  await until(
    async () => told,
    (all) => all.length > 0,
  )
  t.deepEqual(told, ['SIGKILL'])
  await server.close()
})
