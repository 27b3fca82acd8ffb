// Goal: what a command knows stays on this computer, or goes to its gateway where nobody reads it.
// Method: every example of every command against an address in plain http; then whole processes.

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import test from 'ava'

import { ACCESS } from '#src/cli/access'
import type { Command, CommandEntry, Group } from '#src/cli/command'
import { processContext, terminalOver } from '#src/cli/process-context'
import { PROGRAM } from '#src/cli/table'
import { program } from '#test/support/program'
import { CHANNEL, ENV, PASSWORD, TOKEN, run } from '#test/support/command-line'
import { refusal } from '#test/support/fake-process-context'
import { temporaryFolder } from '#test/support/gateway'

const commandsIn = (entry: CommandEntry | Group): readonly CommandEntry[] =>
  entry.kind === 'command' ? [entry] : entry.entries.flatMap(commandsIn)

/** Every command about a gateway, with a line that its help shows as an example. */
async function linesOfCommands(): Promise<readonly string[]> {
  const commands: Command[] = await Promise.all(commandsIn(PROGRAM).map(({ load }) => load()))
  return commands
    .filter(({ options }) => 'url' in options && options['url'] === ACCESS.url)
    .flatMap(({ examples }) => examples.slice(0, 1))
    .map((example) => example.split(/ [|<>] /)[0] ?? '')
    .map((line) => line.replace('readings.csv', '- --format csv').replace(/ --url \S+/, ''))
}

/** They know no secret without a token; the demo has a gateway of its own. */
const OPEN = /^(status|channel exists|demo)\b/

test('access/2: no command sends a secret over plain http to another computer', async (t) => {
  const lines = await linesOfCommands()
  t.true(lines.length > 30, lines.join('\n'))
  for (const line of lines) {
    for (const token of OPEN.test(line) ? [TOKEN] : [undefined, TOKEN]) {
      const env = { ...ENV, HELIOGRAPH_URL: 'http://push.example', HELIOGRAPH_TOKEN: token }
      const words = line === 'demo' ? 'demo --url http://push.example' : line
      const { context, exitCode } = await run(words, { env })
      t.is(exitCode, 2, words)
      t.deepEqual(context.requests, [], words)
      t.regex(context.diagnostics.join('\n'), /--url: over plain http .* --insecure/, words)
    }
  }
})

const SEND = 'send --title t'

const rows: [words: string, url: string, sends: boolean, warns: boolean][] = [
  [SEND, 'https://push.example', true, false],
  [SEND, 'http://127.0.0.1:9000', true, false],
  [SEND, 'http://127.3.2.1', true, false],
  [SEND, 'http://[::1]:9000', true, false],
  [SEND, 'http://localhost:8080', true, false],
  [SEND, 'http://127.0.0.1.push.example', false, false],
  [SEND, 'http://localhost.push.example', false, false],
  [SEND, 'http://0x7f.1', true, false],
  [SEND, 'http://10.0.0.1:8080', false, false],
  [SEND, 'http://[::2]', false, false],
  [`${SEND} --insecure`, 'http://10.0.0.1:8080', true, true],
  [`--insecure ${SEND}`, 'http://10.0.0.1:8080', true, true],
  [`${SEND} --insecure`, 'https://push.example', true, false],
  [`${SEND} --insecure`, 'http://127.0.0.1:8080', true, false],
  ['status o', 'http://10.0.0.1:8080', true, false],
  [`channel exists ${CHANNEL}`, 'http://10.0.0.1:8080', true, false],
  ['device register --device-key-file /dev/null/no', 'http://10.0.0.1', false, false],
]

test('access/2: loopback, https and --insecure let secrets go, and --insecure says so', async (t) => {
  for (const [words, url, sends, warns] of rows) {
    const { context } = await run(words, { env: { ...ENV, HELIOGRAPH_URL: url } })
    t.is(context.requests.length, sends ? 1 : 0, `${words} ${url}`)
    const shown = context.diagnostics.join('\n')
    t.is(/^warning: --insecure: everybody on the way can read/m.test(shown), warns, words)
    t.notRegex(context.shown, new RegExp(PASSWORD))
  }
})

test('access/2: the address of the config file counts like any other', async (t) => {
  const path = join(await temporaryFolder(t), 'config.json')
  const profile = { url: 'http://push.example', channel: CHANNEL, password: PASSWORD }
  writeFileSync(path, JSON.stringify({ profiles: { default: profile } }))
  const { context, exitCode } = await run(SEND, { env: { HELIOGRAPH_CONFIG: path } })
  t.deepEqual([exitCode, context.requests], [2, []])
})

/** Runs it in a folder; gives the exit code and what it said. */
const runIn = (folder: string, words: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    const env = { PATH: process.env['PATH'], HELIOGRAPH_URL: 'http://127.0.0.1:1' }
    const args = [...program('cli/heliograph'), ...words]
    execFile(process.execPath, args, { cwd: folder, env }, (error, _, said) => {
      resolve(`${error?.code ?? 0} ${said}`)
    })
  })

test('a .env file in the folder is read by `serve`, and by no other command', async (t) => {
  const folder = await temporaryFolder(t)
  writeFileSync(join(folder, '.env'), 'HELIOGRAPH_PROFILE=nowhere\nSERVICE_LANES=none\n')
  t.regex(await runIn(folder, ['status', 'o']), /^3 not_connected/)
  t.regex(await runIn(folder, ['serve']), /^78 .*SERVICE_LANES/s)
  // Commands of `watch --exec` get it too.
  t.is(processContext().env, process.env)
})

const CONTROLS = '\u007f\u009b31m\u061c\u200f\u202e\u2066\u2028'

test('terminal-text/1: JSON on a terminal has controls as escapes, in a pipe as they are', (t) => {
  const line = JSON.stringify({ title: `a\u001b${CONTROLS}é` })
  for (const [isTTY, expected] of [
    [false, line],
    [true, String.raw`{"title":"a\u001b\u007f\u009b31m\u061c\u200f\u202e\u2066\u2028é"}`],
  ] as const) {
    const written: string[] = []
    const output = {
      isTTY,
      columns: 80,
      rows: 24,
      write: (text: string | Uint8Array) => written.push(String(text)),
    }
    const terminal = terminalOver({ stdout: output, stderr: output }, true)
    terminal.print(line)
    terminal.printDiagnostic(line)
    t.deepEqual(written, [`${expected}\n`, `${expected}\n`])
    t.deepEqual(JSON.parse(written[0] ?? ''), JSON.parse(line))
  }
})

test('terminal-text/1, endings/1: what a server says in an error moves no cursor', async (t) => {
  const { context } = await run('status o', {
    answer: () => {
      const { json, ...rest } = refusal(404, 'send_status_not_found')
      return { ...rest, json: { ...(json as object), error: `x\u001b[2J${CONTROLS}` } }
    },
  })
  // oxlint-disable-next-line no-control-regex
  t.notRegex(context.diagnostics.join(''), /[\u0000-\u001f\u007f-\u009f\u202e\u2066]/)
})
