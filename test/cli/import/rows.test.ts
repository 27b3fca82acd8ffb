// Goal: every row of a file is read, or is one that cannot be read, and memory stays bounded.

import { Readable } from 'node:stream'

import test from 'ava'

import { CommandError } from '#src/cli/endings'
import { rowsOf } from '#src/cli/import/rows'
import type { RowFormat } from '#src/cli/import/rows'

/** Whatever the pieces in which it comes. */
async function readAll(text: string, format: RowFormat, { delimiter = ',', size = 3 } = {}) {
  const bytes = Buffer.from(text)
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  )
  const rows = []
  for await (const row of rowsOf(Readable.from(pieces), format, delimiter)) rows.push(row)
  return rows.map(({ number, read: { ...read } }) => [
    number,
    'fields' in read ? { ...read.fields } : read.problem,
  ])
}

const tables: [format: RowFormat, text: string, rows: unknown][] = [
  [
    'json',
    '{"a":1}\n\n{"b":"ü"}\r\n',
    [
      [1, { a: 1 }],
      [2, { b: 'ü' }],
    ],
  ],
  ['json', '{"a":1}', [[1, { a: 1 }]]],
  ['json', '', []],
  [
    'json',
    'nonsense\n[1]\nnull\n{"a":{"b":2}}',
    [
      [1, 'the line is no JSON object'],
      [2, 'the line is no JSON object'],
      [3, 'the line is no JSON object'],
      [4, { a: { b: 2 } }],
    ],
  ],
  [
    'csv',
    '\ufeffthing_id,t, x \n7,21.5,\r\n"a ""b"", c",true,007\n\n',
    [
      [1, { thing_id: 7, t: 21.5 }],
      [2, { thing_id: 'a "b", c', t: true, x: '007' }],
    ],
  ],
  [
    'csv',
    'a,b\n1\n1,2,3\n"two\nlines",4',
    [
      [1, 'the row has 1 cells, and the heading 2'],
      [2, 'the row has 3 cells, and the heading 2'],
      [3, { a: 'two\nlines', b: 4 }],
    ],
  ],
  [
    'csv',
    'a,__proto__\n1,2',
    [
      [
        1,
        Object.fromEntries([
          ['a', 1],
          ['__proto__', 2],
        ]),
      ],
    ],
  ],
  ['csv', 'a,b\n', []],
]

test('import-rows/1: a row that cannot be read is one row, and the others go on', async (t) => {
  for (const [format, text, rows] of tables) t.deepEqual(await readAll(text, format), rows, text)
  t.deepEqual(await readAll('a;b\n1;2', 'csv', { delimiter: ';' }), [[1, { a: 1, b: 2 }]])
})

test('import-rows/2: a row that is too long ends the import', async (t) => {
  const size = 65_536
  const long = 'x'.repeat(1_100_000)
  const json = await t.throwsAsync(readAll(`{"a":"${long}"}`, 'json', { size }))
  t.true(json instanceof CommandError)
  const csv = await t.throwsAsync(readAll(`a\n1\n"${long}"`, 'csv', { size }))
  t.regex(csv.message, /^the CSV cannot be read: .*line 3/)
})

test('a heading that does not name each column once is refused', async (t) => {
  for (const text of ['a,a\n1,2', 'a,\n1,2']) {
    t.true((await t.throwsAsync(readAll(text, 'csv'))) instanceof CommandError)
  }
})
