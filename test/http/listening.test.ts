// Goal: the address that an ingress listens at is its own, or shared by those that are to share it.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import test from 'ava'

import { freePort } from '#test/support/free-port'
import { startIngress } from '#test/support/start-ingress'

test('applications/1: a taken port is refused with the reason', async (t) => {
  const { port } = await startIngress(t)
  const error = await t.throwsAsync(
    startIngress(t, { http: { host: '127.0.0.1', port } }).then(() => undefined),
  )
  t.is(error?.message, `cannot listen on 127.0.0.1 port ${port} (SERVICE_HTTP_ADDR): EADDRINUSE`)
})

// Method: a port that is named, because the library never shares one that the system chose.
for (const [isPortShared, outcome] of [
  [false, 'refused'],
  [true, 'shared'],
] as const) {
  const title = isPortShared ? 'are to share a port do' : 'are not to share a port do not'
  test(`applications/1: processes that ${title}`, async (t) => {
    const http = { host: '127.0.0.1', port: await freePort(t) }
    const { port } = await startIngress(t, { http, isPortShared })
    t.is(await outcomeElsewhere(port, isPortShared), outcome)
  })
}

/** Another process listens at the port: it shares it, or is refused. */
async function outcomeElsewhere(port: number, isPortShared: boolean): Promise<string> {
  const code = `
    import { createHttp } from '#src/http/http'
    const timers = { after: () => () => {} }
    const times = { timers, monotonicMs: () => 0, bodyTimeoutMs: 1 }
    const isPortShared = ${isPortShared}
    const http = createHttp({ tls: undefined, clientAddress: () => '', isPortShared, ...times })
    const bound = http.listen({ host: '127.0.0.1', port: ${port}, setting: 'SERVICE_HTTP_ADDR' })
    await bound.then(() => console.log('shared'), () => console.log('refused'))
    http.close()`
  const options = [...process.execArgv, '--input-type=module', '-e', code]
  const { stdout } = await promisify(execFile)(process.execPath, options)
  return stdout.trim()
}
