// Goal: no answer of any way in is without the headers that browsers need.
// Method: every route of the document, asked rightly or not; then answers that go other ways.

import test from 'ava'

import { compatibilityStyles } from '#src/compat/styles'
import { TOPIC, WRONG_TOPIC } from '#test/support/compatibility-rig'
import { startApp } from '#test/support/mounted-app'
import { startIngress } from '#test/support/start-ingress'
import type { RigOptions } from '#test/support/start-ingress'

type Paths = Readonly<Record<string, Readonly<Record<string, unknown>>>>

const HSTS = 'max-age=31536000'
const STYLES: RigOptions = { styles: compatibilityStyles({ keptMs: 1 }) }

const missing = (headers: Headers, hsts: string | null): readonly string[] => [
  ...(headers.get('x-content-type-options') === 'nosniff' ? [] : ['nosniff']),
  ...(headers.get('strict-transport-security') === hsts ? [] : ['hsts']),
]

for (const isHttps of [false, true]) {
  const hsts = isHttps ? HSTS : null
  test(`every route ${isHttps ? 'with an https address ' : ''}has the common headers`, async (t) => {
    const { get, send } = await startIngress(t, { ...STYLES, isHttps })
    const paths = (await get('/openapi.json?styles=1')).json['paths'] as Paths
    const asked: [method: string, path: string][] = Object.entries(paths).flatMap(
      ([path, methods]) =>
        [...Object.keys(methods), 'head', 'trace-not', 'delete'].map((method): [string, string] => [
          method.toUpperCase(),
          path.replaceAll(/\{[^}]*\}/g, 'x'),
        ]),
    )
    t.true(asked.length > 100)
    asked.push(['POST', `${TOPIC}?title=t`], ['GET', `${TOPIC}/json?poll=1`], ['POST', WRONG_TOPIC])
    const statuses = new Set<number>()
    for (const [method, path] of asked) {
      const { status, headers } = await send(path, { method })
      statuses.add(status)
      t.deepEqual(missing(headers, hsts), [], `${method} ${path} ${status}`)
      // Other sites read what the imitated tool's own page would; nothing else is for them.
      const readers = path.startsWith('/compat-topic') ? ['*', null] : [null]
      t.true(readers.includes(headers.get('access-control-allow-origin')), `${method} ${path}`)
    }
    for (const status of [200, 400, 404, 405])
      t.true(statuses.has(status), `${status} was answered`)
  })

  test(`mounted handlers ${isHttps ? 'with an https address ' : ''}have them once`, async (t) => {
    const { get } = await startApp(t, {
      isHttps,
      handler: (request, response) => {
        response.setHeader('x-content-type-options', 'nosniff')
        response.setHeader('strict-transport-security', 'max-age=0')
        if (request.url === '/app/broken') throw new Error('broken')
        response.end('it answers')
      },
    })
    for (const path of ['/app/x', '/app/broken', '/elsewhere']) {
      t.deepEqual(missing((await get(path)).headers, hsts), [], path)
    }
  })
}

test('answers of redirects, streams and large bodies of a mounted handler have them', async (t) => {
  const rig = await startApp(t)
  for (const path of ['login', 'large', 'nothing', 'events', 'upload']) {
    const answer = await fetch(`${rig.url}/app/${path}`, { redirect: 'manual' })
    t.deepEqual(missing(answer.headers, null), [], path)
    await answer.body?.cancel()
  }
})
