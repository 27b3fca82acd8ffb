// Goal: the console's files are served as a page needs them, to whoever asks, and nothing else is.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { readStaticFiles } from '#src/ingress/static-files'
import { temporaryFolder } from '#test/support/gateway'
import { startIngress } from '#test/support/start-ingress'
import type { Rig } from '#test/support/start-ingress'

const TOKEN = 'the-gateway-token'
const FILES = {
  'index.html': '<p>page</p>',
  'index.html.br': 'page in brotli',
  'index.html.gz': 'page in gzip',
  'main-A1B2C3D4.js': 'script',
  'service-worker.js': 'worker',
  'icon.svg': '<svg/>',
  'secret.txt': 'of no known kind',
}

async function startConsole(t: ExecutionContext): Promise<Rig> {
  const folder = join(await temporaryFolder(t), 'files')
  await mkdir(folder)
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text)
  return startIngress(t, { console: await readStaticFiles(folder), token: TOKEN })
}

/** The compressed forms of the test are none. */
const PLAIN = { 'accept-encoding': 'identity' }

const STATUSES: readonly (readonly [path: string, status: number, headers?: object])[] = [
  ['/console/', 200],
  ['/console/main-A1B2C3D4.js', 200],
  ['/console/icon.svg', 200],
  ['/console/index.html', 404],
  ['/console/index.html.br', 404],
  ['/console/secret.txt', 404],
  ['/console/..%2fsecret.txt', 404],
  ['/console/%2e%2e/%2e%2e/etc/passwd', 404],
  ['/console/main-A1B2C3D4.js/', 404],
  ['/', 401],
  ['/', 200, { authorization: `Bearer ${TOKEN}` }],
]

for (const [path, status, headers = {}] of STATUSES) {
  // static-files/1 and console-rows/2
  test(`${path} gets ${status} ${Object.keys(headers).join()}`, async (t) => {
    const { get } = await startConsole(t)
    t.is((await get(path, { ...PLAIN, accept: '*/*', ...headers })).status, status)
  })
}

test('a browser is led to the console, from below any path of a proxy', async (t) => {
  const { send } = await startConsole(t)
  for (const path of ['/', '/console']) {
    const accept = 'text/html,application/xhtml+xml'
    const led = await send(path, { headers: { accept }, redirect: 'manual' })
    t.is(led.status, 302)
    t.is(led.headers.get('location'), './console/')
  }
})

const ENCODINGS: readonly (readonly [accepted: string, encoding: string | null])[] = [
  ['gzip, deflate, br', 'br'],
  ['gzip;q=1.0, br;q=0', 'gzip'],
  ['BR', 'br'],
  ['identity', null],
  ['', null],
]

for (const [accepted, encoding] of ENCODINGS) {
  test(`a browser that accepts '${accepted}' gets ${encoding ?? 'the file as it is'}`, async (t) => {
    const { connect } = await startConsole(t)
    const raw = connect()
    const lines = ['GET /console/ HTTP/1.1', 'host: x', `accept-encoding: ${accepted}`]
    raw.socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    const answer = await raw.until(/\r\n\r\n.*page.*$/)
    t.is(/content-encoding: (\w+)/.exec(answer)?.[1] ?? null, encoding)
    t.regex(answer, /vary: accept-encoding/)
  })
}

test('hashed files last a year, the page is asked for again and answered by its etag', async (t) => {
  const { get } = await startConsole(t)
  const script = await get('/console/main-A1B2C3D4.js')
  t.is(script.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  const page = await get('/console/', PLAIN)
  t.is(page.headers.get('cache-control'), 'no-cache')
  const etag = page.headers.get('etag') ?? ''
  t.is((await get('/console/', { ...PLAIN, 'if-none-match': etag })).status, 304)
})

// console-rows/1
test('the page may load its own files alone, stands in no frame, and makes no markup of text', async (t) => {
  const { get } = await startConsole(t)
  const { headers } = await get('/console/', PLAIN)
  const policy = headers.get('content-security-policy') ?? ''
  t.deepEqual(
    [...policy.matchAll(/'unsafe-[a-z-]+'|\*|https?:/g)].map(([found]) => found),
    [],
  )
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
  ]) {
    t.true(policy.split('; ').includes(rule), rule)
  }
  t.is(headers.get('referrer-policy'), 'no-referrer')
})

test('console-rows/1: only the worker may send elsewhere, and nothing else of it is other', async (t) => {
  const { get } = await startConsole(t)
  const policyOf = async (name: string) =>
    (await get(`/console/${name}`, PLAIN)).headers.get('content-security-policy') ?? ''
  const [script, worker] = [await policyOf('main-A1B2C3D4.js'), await policyOf('service-worker.js')]
  const sources = "connect-src 'self'"
  t.is(worker, script.replace(sources, `${sources} https: http:`))
  t.true(script.includes(`${sources};`))
})

test('a gateway without a console has neither its page nor a way to it', async (t) => {
  const { get } = await startIngress(t)
  t.is((await get('/console/')).status, 404)
  t.is((await get('/', { accept: 'text/html' })).status, 200)
  t.is(await readStaticFiles('/no/such/folder'), undefined)
})
