// Goal: an import sends what a file holds, says what was not accepted, and goes on where it stopped.
// Method: whole command lines against a recorded fetch.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { refusal, success } from '#test/support/fake-process-context'
import type { FakeOptions, RecordedRequest } from '#test/support/fake-process-context'
import { CHANNEL, PASSWORD, run } from '#test/support/command-line'

const NEVER = new AbortController().signal
const credentials = { channel_id: CHANNEL, password: PASSWORD }

function folderFor(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-import-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

const imported = async (words: string, options: FakeOptions = {}) =>
  await run(words, { stopped: NEVER, ...options })

const thingOf = ({ body }: RecordedRequest): string => (body as { thing_id: string }).thing_id

const CSV = 'thing_id,observed_at,t\na,5,1\nb,5,2\nnot allowed,5,3\nc,5,4\n'

test('each row is an update, and a row that stands for none is kept apart', async (t) => {
  const folder = folderFor(t)
  const [file, rejects] = [join(folder, 'readings.csv'), join(folder, 'rejects')]
  writeFileSync(file, CSV)
  const { context, exitCode } = await imported(`import ${file} --rejects ${rejects} --json`, {
    answer: (request) =>
      thingOf(request) === 'b' ? refusal(400, 'validation_failed') : success({ op_id: 'o' }),
  })
  t.is(exitCode, 1)
  const expected = [
    { thing_id: 'a', observed_at: 5, attrs: { t: 1 } },
    { thing_id: 'b', observed_at: 5, attrs: { t: 2 } },
    { thing_id: 'c', observed_at: 5, attrs: { t: 4 } },
  ]
  t.deepEqual(
    context.requests.map(({ body }) => body),
    expected.map((update) => ({ ...credentials, ...update })),
  )
  t.is(context.requests[0]?.url, 'http://127.0.0.1:8080/thing/update')
  t.deepEqual(context.printed, [
    JSON.stringify({ rows: 4, accepted: 2, rejected: 2, skipped: 0, ended: 'done' }),
  ])
  const kept = readFileSync(rejects, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object)
  t.deepEqual(
    new Set(kept.map((reject) => JSON.stringify(reject))),
    new Set([
      JSON.stringify({
        row: 3,
        error_code: 'row_invalid',
        error: 'thing_id: a thing_id is 1 to 64 of letters, digits and _ : -',
        input: { thing_id: 'not allowed', observed_at: 5, t: 3 },
      }),
      JSON.stringify({
        row: 2,
        error_code: 'validation_failed',
        error: 'a sentence about it',
        input: { thing_id: 'b', observed_at: 5, t: 2 },
      }),
    ]),
  )
})

test('a file that cannot be written is said before anything is sent', async (t) => {
  const folder = folderFor(t)
  const file = join(folder, 'readings.csv')
  writeFileSync(file, CSV)
  const rows: [option: string, path: string, said: RegExp][] = [
    [
      '--rejects',
      join(folder, 'missing', 'rejects'),
      /cannot open .*rejects: no such file or folder/,
    ],
    ['--rejects', folder, /cannot open .*: it is a folder/],
    ['--checkpoint', join(file, 'checkpoint'), /cannot (open|mkdir) .*readings.csv/],
  ]
  for (const [option, path, said] of rows) {
    const { context, exitCode } = await imported(`import ${file} ${option} ${path}`, {
      answer: () => success({ op_id: 'o' }),
    })
    t.not(exitCode, 0, option)
    t.is(context.requests.length, 0, option)
    t.regex(context.shown, said)
  }
})

test('importer/3: a reject that cannot be kept ends the import, and is none', async (t) => {
  if (!existsSync('/dev/full')) {
    t.pass('this system has no disk that is always full')
    return
  }
  const file = join(folderFor(t), 'readings.csv')
  writeFileSync(file, 'thing_id,observed_at,t\na,5,1\nb,5,2\nc,5,3\n')
  const { context, exitCode } = await imported(`import ${file} --rejects /dev/full --json`, {
    answer: (request) =>
      thingOf(request) === 'a' ? refusal(400, 'validation_failed') : success({ op_id: 'o' }),
  })
  t.is(exitCode, 1)
  t.regex(context.shown, /cannot write .*: the disk is full/)
  t.deepEqual(context.printed, [])
})

test('importer/2: wrong credentials reject no row, and the next run sends every row', async (t) => {
  const folder = folderFor(t)
  const [file, checkpoint] = [join(folder, 'readings.jsonl'), join(folder, 'checkpoint')]
  writeFileSync(
    file,
    ['a', 'b', 'c'].map((id) => JSON.stringify({ thing_id: id, t: 1 })).join('\n'),
  )
  const words = `import ${file} --checkpoint ${checkpoint} --connections 1 --json`
  const refused = await imported(words, {
    answer: (request) =>
      thingOf(request) === 'a' ? success({ op_id: 'o' }) : refusal(404, 'channel_not_found'),
  })
  t.is(refused.exitCode, 4)
  t.deepEqual(refused.context.requests.map(thingOf), ['a', 'b'])
  const again = await imported(words)
  t.is(again.exitCode, 0)
  t.deepEqual(again.context.requests.map(thingOf), ['b', 'c'])
  t.deepEqual(again.context.printed, [
    JSON.stringify({ rows: 2, accepted: 2, rejected: 0, skipped: 1, ended: 'done' }),
  ])
  const third = await imported(words)
  t.deepEqual(third.context.requests, [])
})

test('Ctrl-C ends an import, and a checkpoint says where it goes on', async (t) => {
  const checkpoint = join(folderFor(t), 'checkpoint')
  const { context, exitCode } = await run(`import - --format json --checkpoint ${checkpoint}`, {
    input: '{"thing_id":"a","t":1}\n',
  })
  t.is(exitCode, 1)
  t.deepEqual(context.requests, [])
  t.regex(context.diagnostics.join('\n'), /stopped behind row 0; the same command goes on there/)
})

test('an import by password says how many rows a minute takes, one by a key has no such bound', async (t) => {
  for (const [password, notes] of [
    [PASSWORD, 1],
    ['k'.repeat(43), 0],
  ] as const) {
    const env = { HELIOGRAPH_CHANNEL: CHANNEL, HELIOGRAPH_PASSWORD: password }
    const { context } = await imported('import - --format csv', { input: 'thing_id,t\na,1\n', env })
    t.is(context.diagnostics.filter((line) => line.startsWith('note: ')).length, notes)
  }
})

test('a dry run reads every row and sends nothing', async (t) => {
  const checkpoint = join(folderFor(t), 'checkpoint')
  const { context, exitCode } = await imported(
    `import - --format csv --dry-run --json --checkpoint ${checkpoint}`,
    { input: CSV },
  )
  t.is(exitCode, 1)
  t.deepEqual(context.requests, [])
  t.deepEqual(context.printed, [
    JSON.stringify({ rows: 4, accepted: 3, rejected: 1, skipped: 0, ended: 'done' }),
  ])
  t.deepEqual(context.diagnostics, [
    'row 3: thing_id: a thing_id is 1 to 64 of letters, digits and _ : -',
  ])
  t.false(existsSync(checkpoint))
})

test('an input that cannot be imported is refused before anything is sent', async (t) => {
  const file = join(folderFor(t), 'readings.txt')
  writeFileSync(file, CSV)
  for (const [words, exitCode] of [
    [`import ${file}`, 2],
    ['import', 2],
    [`import ${file} --format csv --attr t --skip t`, 2],
    [`import ${file} --format csv --attr =t`, 2],
    [`import ${file} --format csv --connections 257`, 2],
    // Every row would have the present time, for good.
    [`import ${file} --format csv --time measurd`, 2],
    [`import ${file} --format csv --thing sensr`, 2],
    [`import ${file} --format csv --title nme`, 2],
    [`import ${file} --format csv --attr tempratur=temperature`, 2],
    ['import /nowhere/readings.csv', 2],
  ] as const) {
    const ended = await imported(words)
    t.is(ended.exitCode, exitCode, words)
    t.deepEqual(ended.context.requests, [], words)
  }
})

test('a file that cannot be read is named, with the reason', async (t) => {
  const folder = folderFor(t)
  for (const [file, reason] of [
    ['/nowhere/readings.csv', 'no such file or folder'],
    [folder, 'it is a folder'],
  ] as const) {
    const { context, exitCode } = await imported(`import ${file} --format csv`)
    t.is(exitCode, 2)
    t.deepEqual(context.diagnostics, [`error: cannot read ${file}: ${reason}`])
  }
})
