// Method: a process loads the code of one thread of a gateway, and prints the packages and the parts
// of Node that it has loaded.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import test from 'ava'

import { openLogAt } from '#test/support/log-store'
import { databasePath, openStoreAt } from '#test/support/sqlite-store'

const ROOT = new URL('../../..', import.meta.url).pathname

/** Kept out of threads that do not need them: 9 MB, 5 MB, 13 MB with HTTP/2, and those of MQTT. */
const LARGE = [
  'typeorm',
  'prom-client',
  'internal/deps/undici/undici',
  'mqtt-packet',
  '@bufbuild/protobuf',
]

/** Gives those of LARGE that a process has loaded after these statements. */
async function largeAfter(statements: string): Promise<readonly string[]> {
  const program = `
    import { registerHooks } from 'node:module'
    const loaded = new Set()
    registerHooks({
      load: (url, context, next) => {
        const [, name] = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? []
        if (name !== undefined) loaded.add(name)
        return next(url, context)
      },
    })
    ${statements}
    for (const name of process.moduleLoadList) loaded.add(name.replace('NativeModule ', ''))
    process.stdout.write(JSON.stringify(${JSON.stringify(LARGE)}.filter((name) => loaded.has(name))))
    process.exit(0)
  `
  const flags = [...process.execArgv, '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: ROOT })
  return JSON.parse(stdout) as readonly string[]
}

const PORTS = `
  const { createMetrics } = await import('#src/telemetry/meter')
  const { systemRuntime } = await import('#src/process/system-runtime')
  const ports = { meter: createMetrics().meter, runtime: systemRuntime() }
`

test('the engine of a sole process works with a database of this version without TypeORM', async (t) => {
  const path = await databasePath(t)
  await (await openStoreAt(t, path)).close()
  const loaded = await largeAfter(`
    await import('#src/runtime/standalone/engine')
    ${PORTS}
    const { openStore } = await import('#src/store/store')
    const store = await openStore({ ...ports, url: 'sqlite:${path}' })
    const { ready } = await store.probe.readiness()
    if (!ready) throw new Error('the database is not ready')
  `)
  t.deepEqual(loaded, [])
})

test('the log of a sole process works with a database of this version without TypeORM', async (t) => {
  const url = `sqlite:${await databasePath(t)}`
  await (await openLogAt(t, url)).close()
  const loaded = await largeAfter(`
    await import('#src/runtime/standalone/log-worker')
    ${PORTS}
    const { openLog } = await import('#src/store/log')
    await (await openLog({ ...ports, url: '${url}' })).table.identity()
  `)
  t.deepEqual(loaded, [])
})

test('a process migrates a new database with TypeORM, which the table of this test names', async (t) => {
  const path = await databasePath(t)
  const loaded = await largeAfter(`
    ${PORTS}
    const { openLog } = await import('#src/store/log')
    await openLog({ ...ports, url: 'sqlite:${path}' })
  `)
  t.deepEqual(loaded, ['typeorm'])
})

test('the frontend loads the metrics library, no HTTP client of Node, and nothing of MQTT', async (t) => {
  t.deepEqual(await largeAfter(`await import('#src/runtime/frontend')`), ['prom-client'])
})
