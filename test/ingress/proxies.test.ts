// Goal: behind the proxies of docs/one-machine.md callers keep their addresses, streams and
// WebSockets.
// Method: Debian's servers run the blocks as they stand there, with other ports.

import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { compatibilityStyles } from '#src/compat/styles'
import { findOrInstall } from '#src/dev/servers/programs'
import { ServerProcess } from '#src/dev/servers/server-process'
import { blocksOf } from '#test/support/document-blocks'
import { freePort } from '#test/support/free-port'
import { temporaryFolder, until as answering } from '#test/support/gateway'
import { CHANNEL, CREDENTIALS, PASSWORD } from '#test/support/making'
import { startIngress } from '#test/support/start-ingress'
import { until } from '#test/support/until'

const CALLER = '203.0.113.9'
const INVENTED = '198.51.100.1'
const TOPIC = `/compat-topic/${CHANNEL}:${encodeURIComponent(PASSWORD)}`

interface Proxy {
  readonly name: 'nginx' | 'caddy' | 'haproxy'
  /** The block of the document in a whole file that listens on a port. */
  readonly file: (block: string, port: number, folder: string) => string
  readonly words: (path: string) => readonly string[]
  readonly readyLine: RegExp
  /** The caller whom the gateway sees, where one in front of the proxy names CALLER. */
  readonly address: string
  /** The answer to HTTP/1.0. */
  readonly old: number
  /** What it answers in the place of the library's pages, by the status. */
  readonly faults: readonly (readonly [status: number, request: string])[]
}

const ASKS = 'GET /healthz HTTP/1.1\r\nconnection: close\r\n'

/** Where nginx may write. */
const NGINX_FOLDERS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

const PROXIES: readonly Proxy[] = [
  {
    name: 'nginx',
    file: (block, port, folder) => `daemon off; pid ${folder}/pid; error_log stderr notice;
      events {}
      http {
        access_log off;
        ${NGINX_FOLDERS.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
        ${block.replace('listen 80', `listen 127.0.0.1:${port}`)}
      }`,
    words: (path) => ['-e', 'stderr', '-c', path],
    readyLine: /start worker processes/,
    address: CALLER,
    old: 200,
    faults: [
      [400, `${ASKS}host: x\r\ncontent-length: a\r\n\r\n`],
      [400, `${ASKS}\r\n`],
      [431, `${ASKS}host: x\r\na: ${'a'.repeat(16_384)}\r\n\r\n`],
      [414, `GET /${'a'.repeat(16_384)} HTTP/1.1\r\nhost: x\r\n\r\n`],
      [505, 'GET /healthz HTTP/3.0\r\nhost: x\r\n\r\n'],
    ],
  },
  {
    name: 'caddy',
    file: (block, port) =>
      `{\nadmin off\nauto_https off\ngrace_period 1ms\n}\n${block.replace('push.example', `http://127.0.0.1:${port}`)}`,
    words: (path) => ['run', '--adapter', 'caddyfile', '--config', path],
    readyLine: /serving initial configuration/,
    // It believes nobody in front of it unless it is told to.
    address: '127.0.0.1',
    old: 200,
    faults: [],
  },
  {
    name: 'haproxy',
    file: (block, port) => block.replace('bind :80', `bind 127.0.0.1:${port}`),
    words: (path) => ['-db', '-V', '-f', path],
    readyLine: /Using epoll/,
    address: CALLER,
    old: 505,
    faults: [
      [400, `${ASKS}\r\n`],
      [505, 'GET /healthz HTTP/1.0\r\nhost: x\r\n\r\n'],
    ],
  },
]

/** Returns the port of the proxy; undefined where it cannot be had. */
async function start(t: ExecutionContext, proxy: Proxy, gateway: number) {
  const { name, file, words, readyLine } = proxy
  const found = await findOrInstall(name, process.env)
  if (found.kind === 'missing') {
    if (process.env['CI'] === 'true') throw new Error(found.reason)
    t.log(`not run: ${found.reason}`)
    t.pass()
    return undefined
  }
  const folder = await temporaryFolder(t)
  const port = await freePort(t)
  const [block = ''] = blocksOf('docs/one-machine.md', '## Set up', name)
  const path = join(folder, 'configuration')
  await writeFile(
    path,
    `${file(block, port, folder).replace('127.0.0.1:8080', `127.0.0.1:${gateway}`)}\n`,
  )
  const env = { ...process.env, HOME: folder }
  const server = new ServerProcess({ file: found.file, parameters: words(path), env, readyLine })
  t.teardown(() => server.close())
  await server.start()
  // HAProxy says nothing once it listens; its last line comes before.
  const asked = () => fetch(`http://127.0.0.1:${port}/healthz`).then(Boolean, () => false)
  await answering(asked, (isThere) => isThere)
  return port
}

for (const proxy of PROXIES) {
  test(`behind ${proxy.name} addresses, streams and WebSockets are as without it`, async (t) => {
    const rig = await startIngress(t, {
      trustedProxies: ['127.0.0.0/8'],
      styles: compatibilityStyles({ keptMs: 60_000 }),
    })
    const port = await start(t, proxy, rig.port)
    if (port === undefined) return
    const url = `127.0.0.1:${port}`

    const guess = { ...CREDENTIALS, password: 'a wrong password', title: 't' }
    const headers = {
      'content-type': 'application/json',
      'x-forwarded-for': CALLER,
      forwarded: `for=${INVENTED}`,
    }
    const body = JSON.stringify(guess)
    const refused = await fetch(`http://${url}/message`, { method: 'POST', headers, body })
    t.is(refused.status, 404)
    t.like(rig.logger.lines.at(-1), { fields: { address: proxy.address } })

    const stream = await fetch(`http://${url}${TOPIC}/json`)
    const first = await stream.body?.getReader().read()
    t.regex(Buffer.from(first?.value ?? []).toString(), /"event":"open"/)

    const socket = new WebSocket(`ws://${url}${TOPIC}/ws`)
    t.teardown(() => socket.close())
    const frames: unknown[] = []
    socket.addEventListener('message', ({ data }) => frames.push(data))
    await until('the WebSocket is open', () => frames.length > 0)

    const answered = async (request: string): Promise<string> => {
      const raw = connect(port, '127.0.0.1')
      raw.write(request)
      return text(raw)
    }
    const old = await answered('GET /healthz HTTP/1.0\r\nhost: push.example\r\n\r\n')
    t.regex(old, new RegExp(`^HTTP/1\\.[01] ${proxy.old} `))
    for (const [status, request] of proxy.faults) {
      const [head = '', refusal = ''] = (await answered(request)).split('\r\n\r\n')
      t.regex(head, new RegExp(`^HTTP/1\\.1 ${status} `))
      t.regex(head, /content-type: application\/json/i)
      t.like(JSON.parse(refusal), { success: false, problem: { retryable: false } })
    }
  })
}
