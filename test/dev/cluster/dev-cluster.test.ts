// Goal: one command runs a whole cluster, reports each change of it, and leaves nothing behind.
// Method: run the command as a process, act on it as a developer does, and look for remains.

import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { runCommandLine } from '#src/cli/command-line'
import { createClient } from '#src/client/client'
import { isPortFree } from '#src/dev/servers/port'
import { findOrInstall } from '#src/dev/servers/programs'
import { TEST_MS } from '#test/support/bounds'
import { program } from '#test/support/program'
import { FakeProcessContext } from '#test/support/fake-process-context'
import { temporaryFolder, until } from '#test/support/gateway'
import { isAlive, locksOf } from '#test/support/leftovers'

const LANES = 16
/** Longer than what npx may pass on of one Ctrl-C. */
const PRESS_AGAIN_MS = 400

interface Run {
  readonly child: ChildProcess
  readonly ended: Promise<readonly [code: number | null, signal: NodeJS.Signals | null]>
  readonly lines: readonly string[]
  readonly text: () => string
}

function runIt(words: readonly string[], env: NodeJS.ProcessEnv = {}): Run {
  const child = spawn(process.execPath, [...program('cli/heliograph'), 'dev-cluster', ...words], {
    cwd: tmpdir(),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (line) => lines.push(line))
  }
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  return { child, ended, lines, text: () => lines.join('\n') }
}

/** Waits for a line; gives its match. */
async function seen({ text, child }: Run, sought: RegExp): Promise<RegExpExecArray> {
  const find = async (): Promise<RegExpExecArray | null> => sought.exec(text())
  const isOver = (): boolean => child.exitCode !== null
  await until(find, (match) => match !== null || isOver())
  const match = await find()
  if (match === null) throw new Error(`no ${sought} in:\n${text()}`)
  return match
}

const numbersIn = ({ text }: Run, sought: RegExp): readonly number[] =>
  [...text().matchAll(sought)].map(([, number]) => Number(number))

const foldersOfClusters = (): readonly string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('heliograph-dev-cluster-'))

/** Asserts that no process, port, folder or lock of the run is left. */
async function assertNothingLeft(t: ExecutionContext, run: Run, before: readonly string[]) {
  const processes = numbersIn(run, /as process (\d+)/g)
  // A process that was killed a moment ago may still be on its way out.
  await until(
    async () => processes.filter(isAlive),
    (alive) => alive.length === 0,
  )
  for (const port of numbersIn(run, /(?:on port |127\.0\.0\.1:)(\d+)/g)) {
    await until(
      () => isPortFree(port),
      (isFree) => isFree,
    )
  }
  t.deepEqual(
    foldersOfClusters().filter((name) => !before.includes(name)),
    [],
  )
  t.deepEqual(locksOf(run.child.pid), [])
}

/** Declares a test that needs the server programs. Where they are missing it says so and passes. */
function testWithServers(title: string, run: (t: ExecutionContext) => Promise<void>): void {
  test.serial(title, async (t) => {
    t.timeout(TEST_MS)
    for (const wanted of ['nats-server', 'mariadbd'] as const) {
      const found = await findOrInstall(wanted, process.env)
      if (found.kind === 'found') continue
      t.not(process.env['CI'], 'true', found.reason)
      t.log(`not run: ${found.reason}`)
      return
    }
    await run(t)
  })
}

/** Sends through one node and reads through another how it goes on. */
async function sentAcross(writer: string, reader: string): Promise<string> {
  const writing = createClient({ baseUrl: writer })
  const reading = createClient({ baseUrl: reader })
  const password = 'correct-horse'
  const { channel_id } = await writing.channel.create({ channel_name: 'Greenhouse', password })
  const { op_id } = await writing.message.send({ channel_id, password, title: 'Frost tonight' })
  const { status } = await until(
    () => reading.status(op_id),
    (record) => record.status !== 'accepted' && record.status !== 'processing',
  )
  return status
}

/** The lanes that a node holds by the last that was said of it. */
function lanesOf({ text }: Run, name: string): readonly number[] {
  const last = [...text().matchAll(new RegExp(`${name} +holds (?:no lane|.*: (.*))`, 'g'))].at(-1)
  const ranges = (last?.[1] ?? '').split(', ').filter((range) => range !== '')
  return ranges.flatMap((range) => {
    const [from = 0, to = from] = range.split('-').map(Number)
    return Array.from({ length: to - from + 1 }, (_, index) => from + index)
  })
}

testWithServers(
  'dev-cluster/1, gateway-process/2: nodes share everything, the output names a death, and Ctrl-C leaves nothing',
  async (t) => {
    const before = foldersOfClusters()
    // A setting of the environment would keep every node from starting.
    const run = runIt([], { SERVICE_LANES: 'nonsense', SERVICE_TOKEN: 'production' })
    t.teardown(() => run.child.kill('SIGKILL'))
    await seen(run, /Ctrl-C stops it/)
    const urls = [...run.text().matchAll(/^ {2}node\d +(http\S+)$/gm)].map(([, url]) => url ?? '')
    const [first = '', second = '', third = ''] = urls
    t.is(urls.length, 3)
    t.is(await sentAcross(first, third), 'sent')

    const [, victim] = await seen(run, /node2 +started as process (\d+)/)
    process.kill(Number(victim), 'SIGKILL')
    await seen(run, /node2 +died \(SIGKILL\) and does not start again; the others take over/)
    await until(
      async () => new Set([...lanesOf(run, 'node1'), ...lanesOf(run, 'node3')]).size,
      (lanes) => lanes === LANES,
    )
    await t.throwsAsync(fetch(second))
    t.is(await sentAcross(third, first), 'sent')

    const linesBefore = run.lines.length
    run.child.kill('SIGINT')
    t.deepEqual(await run.ended, [0, null], run.text())
    t.regex(run.text(), /node3 +stopped$/m)
    // Nodes that end before what they stand on miss nothing.
    t.notRegex(run.lines.slice(linesBefore).join('\n'), /warning:|error:/)
    t.notRegex(run.text(), /mysql:|production|error:/)
    await assertNothingLeft(t, run, before)
  },
)

/** As `ps` tells it; T is stopped. */
const stateOf = async (processId: number): Promise<string> =>
  (await promisify(execFile)('ps', ['-o', 'stat=', '-p', String(processId)])).stdout

testWithServers(
  'dev-cluster/2: a second Ctrl-C ends it at once and leaves nothing either',
  async (t) => {
    const before = foldersOfClusters()
    const run = runIt(['--nodes', '1'])
    t.teardown(() => run.child.kill('SIGKILL'))
    const [, processId] = await seen(run, /node1 +started as process (\d+)/)
    // It will not hear that it should stop.
    process.kill(Number(processId), 'SIGSTOP')
    await until(
      () => stateOf(Number(processId)),
      (state) => state.startsWith('T'),
    )
    run.child.kill('SIGINT')
    await delay(PRESS_AGAIN_MS)
    t.is(run.child.exitCode, null)
    run.child.kill('SIGINT')
    t.deepEqual(await run.ended, [1, null], run.text())
    await assertNothingLeft(t, run, before)
  },
)

testWithServers(
  'gateway-process/1: nodes and servers end with a process that is killed',
  async (t) => {
    // Nobody is left to remove the folder.
    const run = runIt(['--nodes', '1'], { TMPDIR: await temporaryFolder(t) })
    const [, processId] = await seen(run, /node1 +started as process (\d+)/)
    run.child.kill('SIGKILL')
    await until(
      async () => isAlive(Number(processId)),
      (isUp) => !isUp,
    )
    for (const port of numbersIn(run, /on port (\d+)/g)) {
      await until(
        () => isPortFree(port),
        (isFree) => isFree,
      )
    }
    t.pass()
  },
)

testWithServers(
  'dev-cluster/1: the output names a server that does not start, and nothing is left',
  async (t) => {
    const before = foldersOfClusters()
    const folder = await temporaryFolder(t)
    await writeFile(join(folder, 'mariadbd'), '#!/bin/sh\necho broken; exit 3\n', { mode: 0o755 })
    const run = runIt([], { PATH: `${folder}:${process.env['PATH']}` })
    t.teardown(() => run.child.kill('SIGKILL'))
    t.deepEqual(await run.ended, [1, null])
    t.regex(run.lines.at(-1) ?? '', /^error: mariadbd did not start: .* ended with 3: broken$/)
    await assertNothingLeft(t, run, before)
  },
)

/** Runs it in this process until it ends by itself. */
async function runHere(words: string, env: NodeJS.ProcessEnv = {}) {
  const context = new FakeProcessContext({ env: { ...process.env, ...env } })
  const stopping = new AbortController()
  const untilStopped = (): AbortSignal => stopping.signal
  const { env: environment, monotonicMs, terminal, serve, readInput, input, after } = context
  const { saveMemory } = context
  const real = { fetch, nowMs: Date.now, untilStopped, saveMemory }
  const own = { env: environment, monotonicMs, terminal, serve, readInput, input, after, ...real }
  const exitCode = await runCommandLine(words.split(' '), own)
  return { exitCode, shown: context.shown, diagnostics: context.diagnostics }
}

testWithServers('a node that does not start ends the whole with what it said', async (t) => {
  const before = foldersOfClusters()
  const ended = await runHere('dev-cluster --nodes 2', { NODE_OPTIONS: '--no-such-option' })
  t.is(ended.exitCode, 1)
  t.regex(ended.diagnostics.join('\n'), /^error: node\d did not start \(exit code 9\): .*no-such-o/)
  t.deepEqual(foldersOfClusters(), before)
  t.deepEqual(locksOf(process.pid), [])
})

test.serial('dev-cluster refuses a taken port before it starts anything', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  const { exitCode, diagnostics, shown } = await runHere(`dev-cluster --nodes 2 --port ${port - 1}`)
  t.is(exitCode, 1)
  t.is(shown, diagnostics.join('\n'))
  t.regex(shown, new RegExp(`^error: port ${port}|^error: port ${port - 1}`))
})

const bounds: [words: string, exitCode: number][] = [
  ['--nodes 1', 0],
  ['--nodes 9', 0],
  ['--nodes 0', 2],
  ['--nodes 10', 2],
  ['--nodes three', 2],
  ['--port 1', 0],
  ['--port 65533', 0],
  ['--port 65534', 2],
  ['--port 65535 --nodes 1', 0],
  ['--port 65536 --nodes 1', 2],
  ['--port 0', 2],
  ['superfluous', 2],
]

test('nodes and ports have bounds; a cluster stopped before its start starts nothing', async (t) => {
  for (const [words, exitCode] of bounds) {
    const context = new FakeProcessContext()
    const code = await runCommandLine(['dev-cluster', ...words.split(' ')], context)
    t.is(code, exitCode, words)
    t.is(context.diagnostics.length, exitCode === 0 ? 0 : 1, words)
    t.is(context.requests.length, 0)
  }
})
