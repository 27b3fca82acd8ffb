// Goal: the README tells the truth about what a reader can check: faults, settings, commands.
// Method: read its tables and compare them with the code, both ways.

import { readFileSync, readdirSync } from 'node:fs'

import test from 'ava'

import { FAULTS } from '#domain/fault'
import { settingNames } from '#src/config/unknown-settings'
import { STATUS } from '#src/refusals/refusal'

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const SOURCE = new URL('../src/', import.meta.url)
const CONFIG = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((path) => /^config\/|^providers\/\w+\/settings\.ts$/.test(path))
  .map((path) => readFileSync(new URL(path, SOURCE), 'utf8'))
  .join('\n')

/** The cells of every row of the table under a heading. */
function tableUnder(heading: string): readonly (readonly string[])[] {
  const section = README.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  return section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}

test('the table of faults has every code with its status and sentence, and no other', (t) => {
  const rows = Object.fromEntries(
    tableUnder('Faults').map(([code = '', status = '', sentence = '']) => [
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
  const named = tableUnder('Settings').flatMap(([cell = '']) => cell.match(/SERVICE_\w+/g) ?? [])
  const read = [...new Set(CONFIG.match(/'SERVICE_\w+'/g))].map((name) => name.slice(1, -1))
  t.deepEqual(named.toSorted(), read.toSorted())
  t.deepEqual(
    [...settingNames()].toSorted(),
    read.toSorted(),
    'the start warns of every other name',
  )
})
