// Goal: who installs the package gets a gateway, a command line and an SDK that run.
// Method: pack it, install the file into an empty folder, and use what is there.

import { once } from 'node:events'
import { createInterface } from 'node:readline'

import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import anyTest from 'ava'
import type { TestFn } from 'ava'
import { publint } from 'publint'

import { TEST_MS, WAIT_MS } from '#test/support/bounds'
import { makeCertificate } from '#test/support/certificate'
import { TOKEN } from '#test/support/gateway'
import { installPackage } from '#test/support/installed-package'
import type { InstalledPackage } from '#test/support/installed-package'

const COMPILER = new URL('../node_modules/.bin/tsc', import.meta.url).pathname

const test = anyTest as TestFn<{ installed: InstalledPackage }>

test.before(async (t) => {
  t.timeout(TEST_MS)
  t.context.installed = await installPackage()
})
test.after.always((t) => t.context.installed.remove())

/** The SDK in ten lines. */
const PROGRAM = `
import { createClient } from 'heliograph'

const [baseUrl, token] = process.argv.slice(2)
const client = createClient({ baseUrl, token })
const password = 'correct-horse'
const { channel_id } = await client.channel.create({ channel_name: 'Greenhouse', password })
const credentials = { channel_id, password }
await client.thing.create({ ...credentials, observed_at: Date.now(), attrs: { temperature: 3.5 } })
const { op_id } = await client.message.send({ ...credentials, title: 'Frost tonight' })
console.log((await client.status(op_id)).op_id === op_id ? 'kept' : 'lost')
`

test('npx heliograph serve runs a gateway, and the SDK talks to it from JavaScript', async (t) => {
  const { installed } = t.context
  const gateway = installed.start('npx', ['heliograph', 'serve', '--while-stdin'], {
    SERVICE_HTTP_ADDR: '127.0.0.1:0',
    SERVICE_TOKEN: TOKEN,
  })
  t.teardown(() => gateway.stdin?.end())
  if (gateway.stdout === null) throw new Error('no output')
  const lines = createInterface({ input: gateway.stdout })
  const started = { signal: AbortSignal.timeout(WAIT_MS) }
  const [line] = (await once(lines, 'line', started)) as [string]
  const { fact, port } = JSON.parse(line) as { readonly fact: string; readonly port: number }
  t.is(fact, 'listening')
  await installed.write('program.js', PROGRAM)
  const url = `http://127.0.0.1:${port}`
  t.is(await installed.run('npx', 'node', 'program.js', url, TOKEN), 'kept\n')
  gateway.stdin?.end()
  t.deepEqual(await once(gateway, 'exit'), [0, null])
})

// Whoever installs on another platform gets no native code for it.
test('a gateway that is to speak QUIC and has no library for it says so at its start', async (t) => {
  t.timeout(TEST_MS)
  const { installed } = t.context
  const { certFile, keyFile } = await makeCertificate(t)
  await installed.withoutQuic()
  const gateway = installed.start('npx', ['heliograph', 'serve', '--while-stdin'], {
    SERVICE_HTTP_ADDR: '127.0.0.1:0',
    SERVICE_DATABASE_URL: 'sqlite:without-quic.db',
    SERVICE_PRIVATE_TRANSPORTS: 'wss,quic',
    SERVICE_PRIVATE_QUIC_ADDR: '127.0.0.1:0',
    SERVICE_PRIVATE_TLS_CERT: certFile,
    SERVICE_PRIVATE_TLS_KEY: keyFile,
  })
  t.teardown(() => gateway.stdin?.end())
  let said = ''
  gateway.stdout?.setEncoding('utf8').on('data', (text: string) => (said += text))
  t.deepEqual(await once(gateway, 'close'), [1, null])
  t.regex(said, /the QUIC library cannot be loaded on \S+: install @matrixai\/quic-/)
})

test('npx heliograph demo shows deliveries', async (t) => {
  const said = await t.context.installed.run(
    'npx',
    'heliograph',
    'demo',
    '--plain',
    '--seconds',
    '3',
  )
  t.regex(said, /\d+ sent, \d+ delivered/)
})

// Neither the types of Node nor `skipLibCheck`: a program for browsers has neither.
const OPTIONS = {
  strict: true,
  noEmit: true,
  target: 'es2024',
  lib: ['es2024', 'dom'],
  types: [],
} as const

const PROJECTS: readonly (readonly [title: string, options: object])[] = [
  ['Node', { ...OPTIONS, module: 'nodenext' }],
  ['a bundler', { ...OPTIONS, module: 'esnext', moduleResolution: 'bundler' }],
]

const TYPED_PROGRAM = `
import { createClient } from 'heliograph'
import type { Client, ThingView } from 'heliograph'

const client: Client = createClient({ baseUrl: 'http://127.0.0.1:8080' })
const credentials = { channel_id: '5HGD9DPWYHPR8YJ6ZKTA2XNKE4', password: 'correct-horse' }
export const kept: Promise<{ readonly op_id: string }> =
  client.message.send({ ...credentials, title: 'Frost tonight' })
// @ts-expect-error A title is text.
void client.message.send({ ...credentials, title: 3 })
export const revOf = ({ rev }: ThingView): number => rev
`

for (const [index, [title, compilerOptions]] of PROJECTS.entries()) {
  test(`the SDK has its types in a strict TypeScript project for ${title}`, async (t) => {
    const { installed } = t.context
    const [program, project] = [`program-${index}.ts`, `tsconfig-${index}.json`]
    await installed.write(program, TYPED_PROGRAM)
    await installed.write(project, JSON.stringify({ compilerOptions, files: [program] }))
    // The compiler's messages are in its output, which its error carries.
    const said = await installed.run('npx', 'node', COMPILER, '-p', project).catch(String)
    t.is(said, '')
  })
}

test('the package is laid out as publint wants it', async (t) => {
  const tarball = Uint8Array.from(t.context.installed.tarball).buffer
  const { messages } = await publint({ pack: { tarball }, strict: true })
  t.deepEqual(messages, [])
})

test('every way of resolving modules finds the types, as far as it knows exports', async (t) => {
  const checked = await checkPackage(createPackageFromTarballData(t.context.installed.tarball))
  if (checked.types === false) return t.fail('there are no types')
  // The resolution of Node 10 knows no exports; require() gets an ES module, which Node 22 allows.
  const isKnown = (problem: object): boolean =>
    'resolutionKind' in problem && ['node10', 'node16-cjs'].includes(String(problem.resolutionKind))
  t.deepEqual(
    checked.problems.filter((problem) => !isKnown(problem)),
    [],
  )
})

test('the package holds the build, and nothing else of the repository', (t) => {
  const files = createPackageFromTarballData(t.context.installed.tarball).listFiles()
  const inside = files.map((path) => path.replace('/node_modules/heliograph/', ''))
  t.true(inside.includes('dist/console/index.html'))
  const tops = [...new Set(inside.map((path) => path.split('/')[0] ?? ''))]
  t.deepEqual(tops.toSorted(), ['LICENSE', 'README.md', 'dist', 'docs', 'package.json'])
  t.deepEqual(
    inside.filter((path) => /(?<!\.d)\.ts$|tsbuildinfo$/.test(path)),
    [],
  )
})
