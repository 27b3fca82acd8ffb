// Goal: what docs/clients.md shows works as it stands there: generated clients, programs without
// one, sketches and files to paste.
// Method: its blocks are run against one gateway, or given to the compiler or the parser of their
// language. `npm run clients:all` runs the languages that take too long for every run.

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { compileFunction } from 'node:vm'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import {
  GO_LANGUAGE,
  PYTHON,
  QUICK_GO,
  STORY,
  generate,
  story,
} from '#test/support/clients/generated'
import { keyed } from '#test/support/clients/keyed'
import { clientProgram, hasClient, hasProgram } from '#test/support/clients/programs'
import { blocksOf } from '#test/support/document-blocks'
import { post, temporaryFolder } from '#test/support/gateway'
import { standingOpenGateway } from '#test/support/standing'

const run = promisify(execFile)
const SETTINGS = new URL('../support/clients', import.meta.url).pathname
const STUBS = `${SETTINGS}/esp32`

const block = (heading: string, language: string, at = 0): string =>
  blocksOf('docs/clients.md', heading, language)[at] ?? ''

const withKey = async (t: ExecutionContext) => keyed(t, await standingOpenGateway())

test('three validators find nothing in the documents of a gateway', async (t) => {
  if (!hasClient(t, 'redocly')) return
  const { baseUrl } = await standingOpenGateway()
  const folder = await temporaryFolder(t)
  const paths = await Promise.all(
    ['openapi.json', 'openapi.json?styles=1', 'asyncapi.json'].map(async (name, at) => {
      const path = join(folder, `${at}.json`)
      writeFileSync(path, await (await fetch(`${baseUrl}/${name}`)).text())
      return path
    }),
  )
  // The second has all that the first one has.
  const whole = paths.slice(1, 2)
  const validators = [
    ['openapi-spec-validator', ...paths.slice(0, 2)],
    ['redocly', 'lint', '--config', `${SETTINGS}/redocly.yaml`, ...whole],
    [
      'spectral',
      'lint',
      '--fail-severity=info',
      '-r',
      `${SETTINGS}/spectral.yaml`,
      ...paths.slice(1),
    ],
  ]
  for (const [name = '', ...words] of validators) {
    const { stdout, stderr } = await run(clientProgram(name), words)
    // A warning ends some of them with success, too.
    t.notRegex(stdout + stderr, /warning/i, name)
  }
})

test('the document of a gateway makes clients of Python and Go that do what they show', async (t) => {
  if (!hasClient(t, 'openapi-generator-cli') || !hasProgram(t, 'java')) return
  const { baseUrl } = await standingOpenGateway()
  const folder = await temporaryFolder(t)
  const path = join(folder, 'openapi.json')
  writeFileSync(path, await (await fetch(`${baseUrl}/openapi.json`)).text())
  const languages = hasProgram(t, 'go') ? [PYTHON, GO_LANGUAGE] : [PYTHON]
  await generate(languages, path, folder)
  for (const language of languages) {
    t.is(await story(language, folder, baseUrl), STORY, language.name)
  }
})

test('Python with requests, and Go with net/http, send and read by a key', async (t) => {
  if (!hasClient(t, 'python')) return
  const { env, program, folder } = await withKey(t)
  const path = program('story.py', block('## Without a generator', 'python'))
  const { stdout } = await run(clientProgram('python'), [path], { env })
  t.is(stdout, 'boiler-2\n2.9\n')
  if (!hasProgram(t, 'go')) return
  program('story.go', block('## Without a generator', 'go'))
  const go = await run('go', ['run', 'story.go'], { env: { ...env, ...QUICK_GO }, cwd: folder })
  t.is(go.stdout, 'boiler-3\n2.9\n')
})

test('the sketches of the ESP32 compile against the libraries that they name', async (t) => {
  if (!hasProgram(t, 'g++')) return
  const folder = await temporaryFolder(t)
  for (const [at, sketch] of blocksOf('docs/clients.md', '## ESP32', 'cpp').entries()) {
    const path = join(folder, `sketch${at}.cpp`)
    // What the environment of Arduino puts in front of each sketch.
    writeFileSync(path, `#include <Arduino.h>\n${sketch}`)
    const words = ['-std=gnu++17', '-fsyntax-only', '-Wall', '-Werror', `-I${STUBS}`, path]
    await t.notThrowsAsync(run('g++', words))
  }
})

test('the file for Home Assistant is YAML with the requests that the gateway takes', async (t) => {
  if (!hasClient(t, 'python')) return
  const { program, gateway, env } = await withKey(t)
  const path = program('configuration.yaml', block('## Home Assistant', 'yaml'))
  const reading = `import json, sys, yaml
yaml.SafeLoader.add_constructor("!secret", lambda loader, node: "secret:" + node.value)
print(json.dumps(yaml.safe_load(open(sys.argv[1]))))`
  const { stdout } = await run(clientProgram('python'), ['-c', reading, path])
  const file = JSON.parse(stdout) as {
    readonly rest_command: Readonly<
      Record<string, { readonly url: string; readonly payload: string }>
    >
  }
  const values: Readonly<Record<string, string>> = {
    key: env.HELIOGRAPH_KEY,
    'title | to_json': '"Water"',
    thing: 'cellar',
    'now().timestamp()': String(Date.now() / 1000),
    'value | to_json': '"wet"',
  }
  for (const { url, payload } of Object.values(file.rest_command)) {
    const body = payload.replace(/\{\{ (.*?) \}\}/g, (_, name: string) => values[name] ?? '?')
    const { status } = await post(gateway, new URL(url).pathname, JSON.parse(body))
    t.is(status, 200, body)
  }
})

test('the flow of Node-RED is whole, and its function makes a request that the gateway takes', async (t) => {
  const { gateway, env } = await withKey(t)
  const flow = JSON.parse(block('## Node-RED', 'json')) as readonly {
    readonly id: string
    readonly wires?: readonly (readonly string[])[]
    readonly func?: string
  }[]
  const ids = flow.map(({ id }) => id)
  for (const to of flow.flatMap(({ wires = [] }) => wires.flat())) t.true(ids.includes(to), to)
  const source = flow.find(({ func }) => func !== undefined)?.func ?? ''
  const make = compileFunction(source, ['msg', 'env']) as (
    message: object,
    environment: object,
  ) => { readonly url: string; readonly payload: object }
  const { url, payload } = make(
    { topic: 'boiler-4', payload: { pressure: 2.9 } },
    { get: (name: string) => env[name as 'HELIOGRAPH_KEY'] },
  )
  t.is((await post(gateway, new URL(url).pathname, payload)).status, 200)
})

test("the library of Home Assistant's integration ntfy has an account, publishes and subscribes", async (t) => {
  if (!hasClient(t, 'python')) return
  const { gateway, env } = await withKey(t)
  const words = [`${SETTINGS}/aiontfy-client.py`, `${gateway.baseUrl}/compat-topic`]
  const { stdout } = await run(clientProgram('python'), [...words, env.HELIOGRAPH_KEY])
  t.deepEqual(stdout.trim().split('\n'), [
    'account * 0',
    'version 40401',
    "heard True Frost tonight 4 ['cellar']",
  ])
})
