// The conformance suite of the protocol against a surface. The suite shows no token, so a proxy in
// front adds it; Host and Origin pass as they are.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { createRequire } from 'node:module'

import type { ExecutionContext } from 'ava'

const SUITE = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/conformance/dist/index.js',
)

/** Names what a server without sessions cannot do; one that passes all the same fails the run. */
const BASELINE = new URL('./conformance-baseline.yml', import.meta.url).pathname

/** Runs one scenario, or every one that applies; gives what the suite says when it fails. */
export async function failureOf(url: string, scenario?: string): Promise<string | undefined> {
  const which =
    scenario === undefined
      ? ['--suite', 'all', '--expected-failures', BASELINE]
      : ['--scenario', scenario]
  const suite = spawn(process.execPath, [
    ...process.execArgv,
    SUITE,
    'server',
    '--url',
    url,
    ...which,
  ])
  const said: Buffer[] = []
  suite.stdout.on('data', (chunk: Buffer) => said.push(chunk))
  suite.stderr.on('data', (chunk: Buffer) => said.push(chunk))
  await once(suite, 'close')
  return suite.exitCode === 0 ? undefined : Buffer.concat(said).toString()
}

/** The address of a proxy that adds the token to each request. */
export async function withToken(t: ExecutionContext, port: number, token: string): Promise<string> {
  const proxy = createServer((asked, answer) => {
    const { method, url, headers } = asked
    const onward = { port, method, path: url, setHost: false }
    const sent = request(
      { ...onward, headers: { ...headers, authorization: `Bearer ${token}` } },
      (got) => {
        answer.writeHead(got.statusCode ?? 502, got.headers)
        got.pipe(answer)
      },
    )
    sent.once('error', () => answer.destroy())
    asked.pipe(sent)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => proxy.close())
  const address = proxy.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return `http://127.0.0.1:${address.port}/mcp`
}
