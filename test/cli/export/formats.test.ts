// Goal: an export from a shell, in each format.
// Method: whole command lines against a gateway in memory; Parquet is read by another library.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import test from 'ava'
import type { ExecutionContext } from 'ava'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { parse } from 'csv-parse/sync'

import { runCommandLine } from '#src/cli/command-line'
import { CHANNEL, ENV, PASSWORD, split } from '#test/support/command-line'
import { FakeProcessContext } from '#test/support/fake-process-context'

/** A row of the table; the columns that are named. */
type Row = Readonly<Record<string, string | number>> & {
  readonly seq?: number
  readonly time?: number
  readonly accepted_at?: number
  readonly count?: number
}

const AT = 1_700_000_000_000
const ENTRY = { op_id: 'o', action: 'update', accepted_at: AT }
const LINES = [
  {
    kind: 'update',
    seq: 1,
    ...ENTRY,
    entity_id: 'pump-1',
    state: 'active',
    payload: { observed_at: AT - 5, attrs: { t: 20.5, mode: 'a, "b"\n', on: true, gone: null } },
  },
  { kind: 'update', seq: 2, ...ENTRY, entity_id: 'pump-1', payload: { title: 'Größe' } },
  {
    kind: 'update',
    seq: 3,
    ...ENTRY,
    entity_id: 'pump-1',
    payload: { observed_at: AT, set_at: AT - 90, attrs: { late: 1 } },
  },
  { kind: 'progress', after_seq: 3 },
  {
    kind: 'message',
    seq: 4,
    ...ENTRY,
    entity_id: 'm',
    payload: { title: 'Hi', body: 'text', severity: 'high' },
  },
  {
    kind: 'thing',
    thing_id: 'pump-1',
    state: 'active',
    observed_at: 1,
    changed_at: 2,
    attrs: { t: 1 },
  },
  {
    kind: 'series',
    thing_id: 'pump-1',
    step: '1h',
    from: AT,
    to: AT + 9,
    attrs: {
      t: {
        times: [AT, AT + 5],
        min: [1, 2],
        max: [3, 4],
        mean: [2.5, 3],
        last: [3, 2],
        count: [4, 1],
      },
    },
    after_series: `pump-1 ${AT}`,
  },
  { kind: 'end', complete: true, after_seq: 4 },
]

const BUCKET = { kind: 'series', id: 'pump-1', attr: 't', step: '1h' }
const ROWS: readonly Row[] = [
  { kind: 'update', seq: 1, id: 'pump-1', time: AT - 5, accepted_at: AT, attr: 't', number: 20.5 },
  { kind: 'update', seq: 1, id: 'pump-1', attr: 'mode', text: 'a, "b"\n' },
  { kind: 'update', seq: 1, id: 'pump-1', attr: 'on', text: 'true' },
  { kind: 'update', seq: 1, id: 'pump-1', attr: 'gone' },
  { kind: 'update', seq: 2, id: 'pump-1', title: 'Größe' },
  { kind: 'update', seq: 3, id: 'pump-1', time: AT - 90, attr: 'late', number: 1 },
  { kind: 'message', seq: 4, id: 'm', title: 'Hi', severity: 'high', text: 'text' },
  { kind: 'thing', id: 'pump-1', state: 'active', time: 1, accepted_at: 2, attr: 't', number: 1 },
  { ...BUCKET, time: AT, number: 2.5, min: 1, max: 3, last: 3, count: 4 },
  { ...BUCKET, time: AT + 5, number: 3, min: 2, max: 4, last: 2, count: 1 },
]

async function exported(words: string, lines: readonly object[] = LINES) {
  const stopped = new AbortController().signal
  const context = new FakeProcessContext({ env: ENV, stopped })
  const bodies: Readonly<Record<string, unknown>>[] = []
  const fetch: typeof context.fetch = async (_url, init) => {
    bodies.push(JSON.parse(init?.body ?? '{}') as Readonly<Record<string, unknown>>)
    return new Response(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  }
  const exitCode = await runCommandLine(split(words), Object.assign(context, { fetch }))
  return { context, exitCode, bodies, written: Buffer.concat(context.written) }
}

async function fileIn(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'heliograph-export-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'file')
}

test('an export is lines of JSON on the standard output, and says where the next one goes on', async (t) => {
  const { exitCode, written, context, bodies } = await exported(
    'export --from 1h --to 2026-01-02 --what updates --what things --prefix pump- --step 5m --after 7',
  )
  t.is(exitCode, 0, context.shown)
  const lines = written.toString().trimEnd().split('\n')
  const kept = LINES.filter(({ kind }) => kind !== 'progress' && kind !== 'end')
  t.deepEqual(
    lines.map((line) => JSON.parse(line) as unknown),
    kept,
  )
  t.deepEqual(context.diagnostics, ['6 lines; --after 4 goes on behind'])
  t.deepEqual(bodies, [
    {
      channel_id: CHANNEL,
      password: PASSWORD,
      from: AT - 3_600_000,
      to: Date.parse('2026-01-02'),
      what: ['updates', 'things'],
      thing_prefix: 'pump-',
      step: '5m',
      after_seq: 7,
    },
  ])
})

test('an export without some series is written as far as it goes, and says so with exit code 6', async (t) => {
  const gap = { thing_id: 'pump-2', step: '1h', from: AT, to: AT + 9, attrs: {}, complete: false }
  const place = { after_series: `pump-2 ${AT + 9}`, error_code: 'series_incomplete' }
  const lines = [
    ...LINES.slice(0, -1),
    { kind: 'series', ...gap, after_series: `pump-2 ${AT}` },
    { kind: 'end', complete: false, after_seq: 4, ...place },
  ]
  const path = await fileIn(t)
  const csv = await exported(`export --format csv --output ${path}`, lines)
  t.is(csv.exitCode, 6)
  t.is(csv.bodies.length, 1)
  t.regex(csv.context.shown, /series_incomplete: series of pump-2.*are left out.*try again later/)
  const rows: object[] = parse(await readFile(path), { columns: true })
  t.is(rows.length, ROWS.length)
  const json = await exported(`export --output ${path} --json`, lines)
  t.deepEqual(JSON.parse(json.context.printed[0] ?? ''), { lines: 7, after_seq: 4 })
  t.regex(await readFile(path, 'utf8'), /"pump-2".*"complete":false/)
})

test('CSV has a row for each value of a Thing, and one for a Message', async (t) => {
  const { written } = await exported('export --format csv')
  const rows: Record<string, string>[] = parse(written, { columns: true })
  t.is(rows.length, ROWS.length)
  for (const [index, { time, accepted_at: accepted, ...row }] of ROWS.entries()) {
    const texts = Object.entries(row).map(([name, value]) => [name, String(value)])
    t.like(rows[index], Object.fromEntries(texts) as object)
    if (time !== undefined) t.is(Date.parse(rows[index]?.['time'] ?? ''), time)
    if (accepted !== undefined) t.is(Date.parse(rows[index]?.['accepted_at'] ?? ''), accepted)
  }
  t.is(rows[3]?.['number'], '')
})

test('Parquet has the same rows with their types, and another library reads them', async (t) => {
  const path = await fileIn(t)
  const { exitCode, context } = await exported(`export --format parquet --output ${path} --json`)
  t.is(exitCode, 0, context.shown)
  t.deepEqual(JSON.parse(context.printed[0] ?? ''), { lines: 6, after_seq: 4 })
  const { buffer, byteOffset, length } = await readFile(path)
  const file = buffer.slice(byteOffset, byteOffset + length)
  const rows = await parquetReadObjects({ file })
  t.is(rows.length, ROWS.length)
  for (const [index, { seq, time, accepted_at: accepted, count, ...row }] of ROWS.entries()) {
    t.like(rows[index], row)
    if (seq !== undefined) t.is(rows[index]?.['seq'], BigInt(seq))
    if (count !== undefined) t.is(rows[index]?.['count'], BigInt(count))
    if (time !== undefined) t.deepEqual(rows[index]?.['time'], new Date(time))
    if (accepted !== undefined) t.deepEqual(rows[index]?.['accepted_at'], new Date(accepted))
  }
  t.is(rows[3]?.['number'], null)
})

test('Parquet of more rows than a group has, and of none, is whole', async (t) => {
  for (const count of [0, 16_384, 16_385]) {
    const line = (seq: number) => ({ ...LINES[0], seq, payload: { attrs: { n: seq } } })
    const lines = Array.from({ length: count }, (_, index) => line(index + 1))
    const path = await fileIn(t)
    const end = { kind: 'end', complete: true, after_seq: count }
    await exported(`export --format parquet --output ${path}`, [...lines, end])
    const { buffer, byteOffset, length } = await readFile(path)
    const file = buffer.slice(byteOffset, byteOffset + length)
    const rows = await parquetReadObjects({ file, columns: ['number'] })
    t.is(rows.length, count)
    t.is(rows.at(-1)?.['number'], count === 0 ? undefined : count)
    // Groups have parts of their descriptions in common, but not their bounds.
    const seqs = parquetMetadata(file).row_groups.map(({ columns }) => columns[1]?.meta_data)
    const firsts = [1n, 16_385n].filter((first) => first <= count)
    t.deepEqual(
      seqs.map((seq) => seq?.statistics?.min_value),
      firsts,
    )
  }
})

test('a heading alone is the CSV of nothing', async (t) => {
  const { written } = await exported('export --format csv', [LINES.at(-1) ?? {}])
  t.regex(written.toString(), /^kind,seq,id,[a-z_,]+\r\n$/)
})

const WRONG: readonly (readonly [words: string, sentence: RegExp])[] = [
  ['export --what series --step raw', /--step/],
  ['export --what pictures', /--what/],
  ['export --format xml', /--format/],
  ['export --from soon', /--from/],
]

for (const [words, sentence] of WRONG) {
  test(`${words} is refused, and nothing is sent`, async (t) => {
    const { exitCode, context, bodies } = await exported(words)
    t.is(exitCode, 2)
    t.regex(context.shown, sentence)
    t.deepEqual(bodies, [])
  })
}
