// Goal: the page for operators tells of every metric and of every reason why a node does not start.
// Method: read its tables and compare them with the code, both ways where the code has a list.

import { readFileSync } from 'node:fs'

import test from 'ava'

import { METRICS } from '#domain/telemetry'

const textOf = (path: string): string =>
  readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

const OPERATIONS = textOf('docs/operations.md')

/** The first cell of every row of the table under a heading. */
function namesUnder(heading: string): readonly string[] {
  const section = OPERATIONS.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  const rows = section.split('\n').filter((line) => line.startsWith('| `'))
  return rows.map((row) => row.split('`')[1] ?? '')
}

test('the table of metrics has every metric, and no other', (t) => {
  t.deepEqual(namesUnder('Metrics').toSorted(), Object.keys(METRICS).toSorted())
})

// The variable parts of the code's sentences match any text here.
const REASONS: readonly (readonly [file: string, sentence: RegExp])[] = [
  ['src/store/turns/lanes.ts', /the database was made with .+ lanes and SERVICE_LANES is .+: /],
  ['src/store/turns/lanes.ts', /which is fixed for the life of a database/],
  ['src/store/turns/lanes.ts', /the database follows the log .+ and was given the log .+: /],
  ['src/store/turns/lanes.ts', /connect it to its own log, or start with an empty database/],
  [
    'src/store/turns/lanes.ts',
    /the log of lane .+ ends at .+ and the database has applied it up to /,
  ],
  ['src/store/turns/lanes.ts', /the log has lost entries or is an older copy; /],
  ['src/store/turns/lanes.ts', /restore both from the same moment/],
  ['src/store/migrate.ts', /the database was changed by a newer version of this program \(.+\): /],
  ['src/store/migrate.ts', /start that version, or restore a copy of the database from before it/],
  [
    'src/store/migrations/take-over.ts',
    /a version of this program that is too old to be taken over: /,
  ],
  ['src/store/migrations/take-over.ts', /start the last version before 1.0 on it first \(docs/],
  ['src/stream/jetstream/lane-stream.ts', /the stream .+ was not made by Heliograph; choose /],
  ['src/stream/jetstream/lane-stream.ts', /the stream .+ belongs to another installation: other/],
  [
    'src/stream/jetstream/lane-stream.ts',
    /the stream .+ was replaced by another one;\s+restore it/,
  ],
  ['src/stream/jetstream/connection.ts', /there is no TLS with the NATS server at .+: /],
  ['src/store/mysql/dialect.ts', /there is no TLS with the server: /],
  [
    'src/runtime/quic/thread.ts',
    /the QUIC library cannot be loaded on .+: install @matrixai.quic-.+, or leave/,
  ],
  ['src/domain/tls-refusal.ts', /comes from an authority that is not trusted here/],
  ['src/domain/tls-refusal.ts', /is not for the name or address by which it is reached/],
  ['src/domain/tls-refusal.ts', /has expired/],
  ['src/domain/tls-refusal.ts', /is not valid yet/],
  ['src/stream/jetstream/lane-stream.ts', /max_payload of the NATS server is .+; set it to .+ or /],
]

test('the document quotes the reasons why a node does not start as the program logs them', (t) => {
  for (const [file, sentence] of REASONS) {
    t.regex(textOf(file), sentence, file)
    t.regex(OPERATIONS, sentence, 'docs/operations.md')
  }
})
