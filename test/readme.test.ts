// Goal: the README is short and true about what a reader can check; so are the pages of faults and
// settings, and the index has every page.
// Method: read them and compare them with the code, both ways.

import { existsSync, readFileSync, readdirSync } from 'node:fs'

import test from 'ava'

import { FAULTS } from '#domain/fault'
import { settingNames } from '#src/config/unknown-settings'
import { STATUS } from '#src/refusals/refusal'

const ROOT = new URL('../', import.meta.url)
const textOf = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')
const SOURCE = new URL('src/', ROOT)
const CONFIG = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((path) => /^config\/|^providers\/\w+\/settings\.ts$/.test(path))
  .map((path) => readFileSync(new URL(path, SOURCE), 'utf8'))
  .join('\n')

/** The cells of every row of the table that a page has. */
const tableOf = (page: string): readonly (readonly string[])[] =>
  textOf(page)
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )

const README_BYTES_MAX = 12 * 1024

test('the README is read in minutes', (t) => {
  t.true(Buffer.byteLength(textOf('README.md')) <= README_BYTES_MAX)
})

test('the README names the command that runs the tests, and .ci/run runs it', (t) => {
  t.true(textOf('README.md').includes('\n## Test it\n\n```sh\nnpm test\n```\n'))
  t.regex(textOf('.ci/run'), /&& npm test -- /)
})

test('every folder of the sources that the README tells of is there', (t) => {
  const rooms =
    textOf('README.md').match(/(?<=^\|.*`)(?:src\/[\w-]+|actors|machines)(?=`.*\|)/gm) ?? []
  t.true(rooms.length > 20, `only ${rooms.length} folders`)
  for (const room of rooms) t.true(existsSync(new URL(room, ROOT)), room)
})

test('the index has every document', (t) => {
  const pages = readdirSync(new URL('docs/', ROOT)).filter((name) => name.endsWith('.md'))
  const index = textOf('docs/README.md')
  t.deepEqual(
    pages.filter((name) => name !== 'README.md' && !index.includes(`(${name})`)),
    [],
  )
})

test('the table of faults has every code with its status and sentence, and no other', (t) => {
  const rows = Object.fromEntries(
    tableOf('docs/faults.md').map(([code = '', status = '', sentence = '']) => [
      code.replaceAll('`', ''),
      [status, sentence],
    ]),
  )
  const codes = Object.entries(FAULTS).map(([code, sentence]) => [
    code,
    [String(STATUS[code as keyof typeof FAULTS]), sentence],
  ])
  t.deepEqual(rows, Object.fromEntries(codes))
})

test('the table of settings has every variable that the configuration reads, and no other', (t) => {
  const named = tableOf('docs/settings.md').flatMap(
    ([cell = '']) => cell.match(/SERVICE_\w+/g) ?? [],
  )
  const read = [...new Set(CONFIG.match(/'SERVICE_\w+'/g))].map((name) => name.slice(1, -1))
  t.deepEqual(named.toSorted(), read.toSorted())
  t.deepEqual(
    [...settingNames()].toSorted(),
    read.toSorted(),
    'the start warns of every other name',
  )
})
