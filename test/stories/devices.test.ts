// Goal: what docs/devices.md shows is what happens: its transcript, its ten lines, its client in
// Python.
// Method: the blocks of the document are played and run as they stand there.

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { createClient } from '#src/client/client'
import { clientProgram, hasClient } from '#test/support/clients/programs'
import { PASSWORD } from '#test/support/device'
import { wssPeer } from '#test/support/framed-client'
import { temporaryFolder, until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import { Relay } from '#test/support/relay'
import { standingOpenGateway } from '#test/support/standing'
import { play, transcriptIn } from '#test/support/transcript'

const DOCUMENT = readFileSync(new URL('../../docs/devices.md', import.meta.url), 'utf8')
const SDK = new URL('../../src/client/index.ts', import.meta.url).href

/** The block of the document in a language. */
const block = (language: string): string =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(DOCUMENT)?.[1] ?? ''

/** A program with the lines that it prints. */
function run(
  t: ExecutionContext,
  file: string,
  parameters: readonly string[],
  env: NodeJS.ProcessEnv = {},
) {
  const program = spawn(file, parameters, { env: { ...process.env, ...env } })
  t.teardown(() => program.kill('SIGKILL'))
  const lines: string[] = []
  let errors = ''
  createInterface({ input: program.stdout }).on('line', (line) => lines.push(line))
  program.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const prints = (isThere: (lines: readonly string[]) => boolean): Promise<readonly string[]> =>
    until(async () => {
      if (program.exitCode !== null) throw new Error(errors)
      return lines
    }, isThere)
  return { lines, prints, program }
}

/** Resolves once the gateway has applied an operation. */
async function applied({ baseUrl }: Pick<Gateway, 'baseUrl'>, opId: string): Promise<void> {
  const client = createClient({ baseUrl })
  await until(
    () => client.status(opId),
    ({ status }) => status === 'sent',
  )
}

test.serial('the transcript equals the answers of a gateway', async (t) => {
  const gateway = await standingOpenGateway()
  const { baseUrl } = gateway
  const lines = transcriptIn(DOCUMENT)
  t.true(lines.length > 30, `only ${lines.length} lines`)
  let opId: string | undefined
  const { differences } = await play(lines, {
    post: async (path, body) => {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(baseUrl + path, { method: 'POST', headers, body })
      const text = await response.text()
      opId = /"op_id":"([^"]+)"/.exec(text)?.[1]
      return { status: response.status, text }
    },
    connect: async () => {
      if (opId !== undefined) await applied(gateway, opId)
      return wssPeer(t, `${baseUrl.replace('http', 'ws')}/private/ws`)
    },
    heard: async (peer, count) => {
      await until(
        async () => peer.heard.length,
        (length) => length >= count,
      )
    },
  })
  t.deepEqual(differences, [])
})

test.serial('the ten lines of the SDK print the Message', async (t) => {
  const { baseUrl } = await standingOpenGateway()
  const program = block('js')
    .replace("'heliograph'", `'${SDK}'`)
    .replace('http://127.0.0.1:8080', baseUrl)
  const file = join(await temporaryFolder(t), 'program.mjs')
  await writeFile(file, program)
  const { prints } = run(t, process.execPath, [...process.execArgv, file])
  t.deepEqual(await prints((lines) => lines.length > 0), ['message Frost tonight'])
})

test.serial('the client in Python knows every Thing, and misses and repeats nothing', async (t) => {
  if (!hasClient(t, 'python')) return
  const gateway = await standingOpenGateway()
  const client = createClient(gateway)
  const named = { channel_name: 'Greenhouse', password: PASSWORD }
  const { channel_id } = await client.channel.create(named)
  const credentials = { channel_id, password: PASSWORD }
  const { device_key } = await client.device.register({ platform: 'linux' })
  await client.channel.subscribe({ ...credentials, device_key })
  const relay = await Relay.open(t, Number(new URL(gateway.baseUrl).port))
  const folder = await temporaryFolder(t)
  const file = join(folder, 'device.py')
  await writeFile(file, block('python'))
  const begin = () =>
    run(t, clientProgram('python'), [file], {
      GATEWAY: `ws://127.0.0.1:${relay.port}/private/ws`,
      KEPT: join(folder, 'device.json'),
      DEVICE_KEY: device_key,
    })
  const isAcknowledged = async () => (await client.messages.pull({ device_key })).items.length === 0

  let device = begin()
  const all: string[] = []
  const titles: string[] = []
  for (const follows of ['a break', 'a kill', 'a second one']) {
    for (const attrs of [
      { a: follows, b: 1 },
      { a: null, c: [follows] },
    ]) {
      const observed_at = 1_800_000_000 + titles.length
      await client.thing.update({ ...credentials, thing_id: 'x', observed_at, attrs })
      titles.push(`message ${titles.length}`)
      await client.message.send({ ...credentials, title: titles.at(-1) ?? '' })
    }
    await device.prints((lines) => lines.some((line) => line.includes(`"${titles.at(-1)}"`)))
    await until(isAcknowledged, (isSo) => isSo)
    if (follows === 'a break') relay.cut()
    if (follows === 'a kill') {
      device.program.kill('SIGKILL')
      all.push(...device.lines)
      device = begin()
    }
  }
  all.push(...device.lines)
  const printed = all.map((line) => JSON.parse(line) as [number, string, { title?: string }])
  const messages = printed.flatMap(([, model, { title }]) => (model === 'message' ? [title] : []))
  t.deepEqual(messages, titles, 'each Message once, in order')
  const thing: unknown = printed.findLast(([, model]) => model === 'thing')?.[2]
  const { attrs, state, rev, observed_at } = await client.thing.get({
    ...credentials,
    thing_id: 'x',
  })
  t.like(thing, { attrs, state, rev, observed_at })

  const { program } = device
  begin()
  const ended = await until(
    async () => program.exitCode,
    (code) => code !== null,
  )
  t.is(ended, 1, 'a program that is replaced ends')
})
