// Goal: the library holds nothing of an exchange that is over.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { createProvider } from '#src/authorization/provider'
import { currentSecrets } from '#src/authorization/secrets'
import { BASE, RESOURCE } from '#test/support/authorization-rig'
import { realRuntime } from '#test/support/real-runtime'
import { openTestStore } from '#test/support/sqlite-store'
import { until } from '#test/support/until'

/** A server of the library alone; `contexts` has those of its requests. */
async function startProvider(t: ExecutionContext) {
  const { authorization: records } = await openTestStore(t)
  const { nowMs, after } = realRuntime
  const secrets = await currentSecrets({ records, runtime: realRuntime })
  const provider = createProvider({ records, nowMs, after, reused: () => undefined }, secrets, {
    baseUrl: BASE,
    resource: RESOURCE,
    registration: { kind: 'open' },
    fetch: () => Promise.reject(new Error('nothing is fetched')),
    errorPage: () => undefined,
    failed: () => undefined,
    revoked: () => undefined,
  })
  const contexts: object[] = []
  provider.use(async (ctx, next) => {
    await next()
    contexts.push(ctx, Reflect.get(ctx, 'oidc') as object)
  })
  const server = createServer((request, response) => {
    void provider.callback()(request, response)
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await until('it listens', () => server.listening)
  const { port } = server.address() as AddressInfo
  return { contexts, url: `http://127.0.0.1:${port}` }
}

/** True when no member leads anywhere but to what all requests share. */
const isEmpty = (context: object): boolean =>
  Reflect.ownKeys(context).every((name) => {
    const value: unknown = Reflect.get(context, name)
    return value === undefined || name === 'oidc'
  })

for (const [what, path, status] of [
  ['an answer', '/oauth/jwks', 200],
  ['a refusal', '/oauth/authorize?client_id=unknown', 400],
] as const) {
  test(`provider/6: after ${what} the context of its request is empty`, async (t) => {
    const { contexts, url } = await startProvider(t)
    const response = await fetch(url + path, { headers: { connection: 'close' } })
    t.is(response.status, status)
    await response.text()
    await until('both are empty', () => contexts.every(isEmpty))
    t.is(contexts.length, 2)
  })
}
