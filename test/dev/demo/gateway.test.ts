// Goal: the demo's own gateway takes nothing from the environment and leaves nothing behind.
// Method: start real gateways with an environment that would break them if they inherited it.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { startOwnGateway } from '#src/dev/demo/gateway'
import { serveWhileStdin } from '#src/dev/own-program'
import { processEnvironment } from '#src/config/environment'
import { WAIT_MS } from '#test/support/bounds'

function folderOf(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('gateway-process/2: the gateway inherits no setting, and its stop leaves nothing behind', async (t) => {
  const folder = folderOf(t)
  const env = { ...processEnvironment(), SERVICE_LANES: 'nonsense', SERVICE_TOKEN: 'production' }
  const signal = new AbortController().signal
  const ready = { env, fetch, temporaryFolder: folder, signal }
  const gateway = await startOwnGateway(ready)
  if (gateway === undefined) throw new Error('the start was aborted')
  const status = async (token: string): Promise<number> => {
    const headers = { authorization: `Bearer ${token}` }
    return (await fetch(`${gateway.baseUrl}/healthz`, { headers })).status
  }
  const { port } = new URL(gateway.baseUrl)
  const lock = join(tmpdir(), `heliograph-port-${port}.lock`)
  t.true(existsSync(lock))
  t.is(await status(gateway.token), 200)
  t.is(await status('production'), 401)
  await gateway.stop()
  await t.throwsAsync(status(gateway.token))
  t.false(gateway.failed.aborted)
  t.deepEqual(readdirSync(folder), [])
  t.false(existsSync(lock))
})

test('an aborted start leaves nothing behind', async (t) => {
  const folder = folderOf(t)
  const signal = AbortSignal.abort()
  const options = { env: processEnvironment(), fetch, temporaryFolder: folder, signal }
  t.is(await startOwnGateway(options), undefined)
  t.deepEqual(readdirSync(folder), [])
})

test('gateway-process/1: a gateway of another process stops when its standard input closes', async (t) => {
  const folder = folderOf(t)
  const child = spawn(process.execPath, serveWhileStdin(), {
    cwd: folder,
    env: {
      ...processEnvironment(),
      SERVICE_HTTP_ADDR: '127.0.0.1:0',
      SERVICE_DATABASE_URL: `sqlite:${join(folder, 'heliograph.db')}`,
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const exited = once(child, 'exit', { signal: AbortSignal.timeout(WAIT_MS) })
  // Its first line says that it listens.
  await once(child.stdout, 'data')
  child.stdin.end()
  child.stdout.resume()
  t.deepEqual(await exited, [0, null])
})

test('a gateway that cannot start ends, also while its standard input is open', async (t) => {
  const folder = folderOf(t)
  const child = spawn(process.execPath, serveWhileStdin(), {
    cwd: folder,
    env: { ...processEnvironment(), SERVICE_LANES: 'nonsense' },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  t.deepEqual(await once(child, 'exit', { signal: AbortSignal.timeout(WAIT_MS) }), [78, null])
})
