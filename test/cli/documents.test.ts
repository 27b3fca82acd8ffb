// Goal: docs/cli.md and the help pages describe the command line as it is.
// Method: read the tables of the document and compare them with the code, both ways; parse every
// example.

import { readFileSync } from 'node:fs'

import test from 'ava'

import { divide, valuesOf } from '#src/cli/arguments'
import { CONFIG_KEYS } from '#src/cli/config-file'
import { EXIT } from '#src/cli/endings'
import { PROGRAM } from '#src/cli/table'
import { optionName } from '#src/cli/command'
import type { CommandEntry, Group } from '#src/cli/command'
import { run, split } from '#test/support/command-line'

const DOCUMENT = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')

/** The cells of every row of the table under a heading. */
const tableUnder = (heading: string): readonly (readonly string[])[] =>
  (DOCUMENT.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim().replaceAll('`', '')))

const commandsOf = (
  group: Group,
  path: readonly string[] = [],
): readonly (readonly [string, CommandEntry])[] =>
  group.entries.flatMap((entry) => {
    const inside = [...path, entry.name]
    if (entry.kind === 'group') return commandsOf(entry, inside)
    return [[inside.join(' '), entry] as const]
  })

test('the table of exit codes has every code by its name, and no other', (t) => {
  const rows = tableUnder('Exit codes').map(([code = '', name = '']) => [name, Number(code)])
  t.deepEqual(Object.fromEntries(rows), EXIT)
})

test('the table of commands equals that of the program, in its order', (t) => {
  const commands = commandsOf(PROGRAM).map(([path, { summary }]) => [path, summary])
  t.deepEqual(tableUnder('Commands'), commands)
})

test('the table of settings has every option with a variable, and every key of the file', async (t) => {
  const named = tableUnder('Settings')
  const variables = new Map<string, string>()
  for (const [, entry] of commandsOf(PROGRAM)) {
    for (const [name, { variable }] of Object.entries((await entry.load()).options)) {
      if (variable !== undefined) variables.set(optionName(name), variable)
    }
  }
  const documented = named.filter(([, option]) => option !== '')
  t.deepEqual(
    new Map(documented.map(([, option = '', variable = '']) => [option, variable])),
    new Map([...variables].toSorted(([a], [b]) => order(documented, a) - order(documented, b))),
  )
  const keys = named.map(([, , , key = '']) => key).filter((key) => key !== '')
  t.deepEqual(keys.toSorted(), [...CONFIG_KEYS].toSorted())
})

const order = (rows: readonly (readonly string[])[], option: string): number =>
  rows.findIndex(([, one]) => one === option)

test('every command has a help page, and its examples are command lines', async (t) => {
  for (const [path, entry] of commandsOf(PROGRAM)) {
    const { context, exitCode } = await run(`${path} --help`)
    t.is(exitCode, 0, path)
    t.is(context.printed[0]?.startsWith(`Usage: heliograph ${path}`), true, path)
    t.true(
      context.printed.every((line) => line.length <= 100),
      path,
    )
    const narrow = await run(`${path} --help`, {
      screen: { columns: 40, rows: 24, hasColor: false },
    })
    const wide = narrow.context.printed.filter((line) => line.length > 40)
    t.deepEqual(
      wide.filter((line) => !/^(Usage:|  heliograph )|^ *\S+$/.test(line)),
      [],
      path,
    )
    const definition = await entry.load()
    t.true(definition.examples.length > 0, path)
    for (const example of definition.examples) {
      t.true(example.startsWith(path), example)
      const [words = ''] = example.slice(path.length).split(/ [|<>] /)
      t.notThrows(() => valuesOf(divide(split(words), definition.options), definition), example)
    }
  }
})
