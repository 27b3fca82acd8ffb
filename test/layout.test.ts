// Goal: the folders tell the story of a submission; this test keeps them honest.
// Method: read every import of every source file and look its folder up in the table. The other
// rules (sizes, bans, top level) read the same files.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'

import test from 'ava'

import { MAY_IMPORT, ONLY_IN } from '#test/support/import-table'
import {
  ROOT,
  SOURCES,
  TESTS,
  fileImportsOf,
  importsOf,
  reachedFrom,
  rowOf,
  targetOf,
  textOf,
} from '#test/support/sources'

// The sources of time and chance; every other file is handed a Runtime. Commands, the servers for
// tests and the client have edges of their own.
const CLOCKS = [
  'src/process/system-runtime.ts',
  'src/process/heap.ts',
  'src/client/runtime.ts',
  'src/console/state/clock.ts',
  'src/console/state/present.ts',
  'src/cli/',
  'src/dev/',
]

const BANS: readonly (readonly [what: RegExp, except: readonly string[], instead: string])[] = [
  [
    /process\.env/,
    ['src/config/environment.ts', 'src/http/uws-environment.ts', 'src/process/node-settings.ts'],
    'a field of Config',
  ],
  [/\bDate\.now\b|\bnew Date\(\)/, CLOCKS, 'the nowMs of Runtime'],
  [/\bperformance\b|\bhrtime\b/, CLOCKS, 'the monotonicMs of Runtime'],
  [
    /\bset(Timeout|Interval|Immediate)\b|\bnode:timers\b|\bnextTick\b/,
    CLOCKS,
    'after, every, soon or wait of Runtime',
  ],
  [
    /\brandom(Bytes|Int|UUID|Fill|FillSync)\b|\bMath\.random\b|\bgetRandomValues\b/,
    // A function that the library of QUIC is handed has this name.
    [...CLOCKS, 'src/client/node/quic.ts'],
    'random or entropy of Runtime',
  ],
  [/\bconsole\.\w+\(/, ['src/cli/'], 'the port Log'],
  [/^\s*(export )?(const )?enum /m, [], 'a union of literals'],
  [/: any\b|<any>|as any\b/, [], 'unknown and a parser'],
  [/TOD[O]|FIXM[E]|XX[X]|HAC[K]/, [], 'the work itself, or an issue'],
  [/from '\.\.\//, [], 'an import by name (#folder/file)'],
]

const LINES_MAX = 300
const FUNCTION_LINES_MAX = 70
const COLUMNS_MAX = 100
const FILES_WITHOUT_README_MAX = 8
// A reader sees a folder at a glance.
const FILES_OF_FOLDER_MAX = 28

const TOP_LEVEL = [
  'Dockerfile',
  'LICENSE',
  'README.md',
  'actors',
  'data',
  'dist',
  'docker-compose.yml',
  'docs',
  'machines',
  'node_modules',
  'ormconfig.ts',
  'package-lock.json',
  'package.json',
  'src',
  'test',
  'tsconfig.build.json',
  'tsconfig.json',
]

test('a folder imports only itself and the folders that its row allows', (t) => {
  for (const file of SOURCES) {
    const row = rowOf(file)
    for (const specifier of importsOf(file)) {
      const target = targetOf(file, specifier)
      if (specifier in ONLY_IN) continue
      const allowed = target === row || MAY_IMPORT[row]?.includes(target) === true
      t.true(allowed, `${file} imports ${specifier}, which ${row} may not`)
    }
  }
})

test('a package that few files absorb is imported nowhere else', (t) => {
  for (const file of SOURCES) {
    for (const specifier of importsOf(file)) {
      const allowed = ONLY_IN[specifier]
      if (allowed !== undefined) t.true(allowed.includes(file), `${file} imports ${specifier}`)
    }
  }
})

test('a browser can load the SDK: nothing that it reaches is of Node or of a package', (t) => {
  const reached = [...reachedFrom('src/client/index.ts')]
  const foreign = reached.flatMap((file) => importsOf(file).filter((name) => !/^[#.]/.test(name)))
  t.deepEqual(foreign, [])
  t.true(reached.length > 15, `only ${reached.length} files are reached`)
})

test('no two files import each other, directly or through others', (t) => {
  const targets = new Map(SOURCES.map((file) => [file, fileImportsOf(file)]))
  const isDone = new Map<string, boolean>()
  const visit = (file: string, path: readonly string[]): void => {
    if (isDone.get(file) === true) return
    if (isDone.get(file) === false) {
      t.fail(`a circle of imports: ${[...path.slice(path.indexOf(file)), file].join(' -> ')}`)
      return
    }
    isDone.set(file, false)
    for (const target of targets.get(file) ?? []) visit(target, [...path, file])
    isDone.set(file, true)
  }
  for (const file of SOURCES) visit(file, [])
  t.true(targets.size > 0)
})

test('no two folders may import each other, directly or through others', (t) => {
  const visit = (folder: string, path: readonly string[]): void => {
    if (folder.endsWith('.ts')) return // It belongs to a folder; ormconfig.ts to the store.
    if (path.includes(folder)) t.fail(`a circle of folders: ${[...path, folder].join(' -> ')}`)
    else for (const target of MAY_IMPORT[folder] ?? []) visit(target, [...path, folder])
  }
  for (const folder of Object.keys(MAY_IMPORT)) visit(folder, [])
  t.pass()
})

test('no file stands loose in src but main.ts', (t) => {
  t.deepEqual(
    SOURCES.filter((file) => /^src\/[^/]+$/.test(file)),
    ['src/main.ts'],
  )
})

/** The file names that a README gives in backticks, by their folder; patterns are left out. */
const namedIn = (readme: string): readonly string[] =>
  [...textOf(readme).matchAll(/`([\w./-]+\.tsx?)`/g)].map(([, name = '']) =>
    name.includes('/') ? name : join(readme, '..', name),
  )

test('a folder of more than eight source files has a README that says which file does what', (t) => {
  const folders = Map.groupBy(SOURCES, (file) => join(file, '..'))
  for (const [folder, { length }] of folders) {
    const has = readdirSync(join(ROOT, folder)).includes('README.md')
    if (length > FILES_WITHOUT_README_MAX) t.true(has, `${folder} has ${length} files`)
    if (!has || folder === '.') continue
    const named = namedIn(join(folder, 'README.md'))
    t.deepEqual(
      named.filter((path) => !SOURCES.includes(path)),
      [],
      `${folder}/README.md names files that are not there`,
    )
  }
})

test('no folder shows more source files at once than its limit', (t) => {
  const folders = Map.groupBy(SOURCES, (file) => join(file, '..'))
  for (const [folder, { length }] of folders) {
    t.true(length <= FILES_OF_FOLDER_MAX, `${folder} has ${length} files`)
  }
})

test('no source file uses a banned word, type or call', (t) => {
  for (const file of [...SOURCES, ...TESTS]) {
    if (file === 'test/layout.test.ts') continue
    const text = textOf(file)
    for (const [what, except, instead] of BANS) {
      const isTest = file.startsWith('test/')
      const ofTests = /enum|any|from|TO/.test(what.source)
      if ((isTest && !ofTests) || except.some((path) => file.startsWith(path))) continue
      t.notRegex(text, what, `${file}: use ${instead}`)
    }
  }
})

test('a Node that is started as a child runs the same files as its parent: sources or the build', (t) => {
  for (const file of [...SOURCES, ...TESTS]) {
    const text = textOf(file)
    if (file === 'test/layout.test.ts' || !text.includes('process.execPath')) continue
    t.regex(
      text,
      /process\.execArgv|serveWhileStdin|(program|script)\(/,
      `${file}: hand process.execArgv on, or use test/support/program`,
    )
  }
})

test('no file of the product or its tests is longer than its limit', (t) => {
  for (const file of [...SOURCES, ...TESTS]) {
    const lines = textOf(file).trimEnd().split('\n').length
    t.true(lines <= LINES_MAX, `${file} has ${lines} lines`)
  }
})

test('no line of a source file is wider than its limit', (t) => {
  for (const file of SOURCES) {
    const lines = textOf(file).split('\n')
    const wide = lines.findIndex((line) => line.length > COLUMNS_MAX)
    t.is(wide, -1, `${file}:${wide + 1} is wider than ${COLUMNS_MAX} columns`)
  }
})

// A function begins at a line that ends with `{` and has an argument list, and ends at the first
// line with a closing brace at the same indent: enough for formatted code.
const FUNCTION_START = /^(\s*)(?!if|for|while|switch|\} else)[^/*]*\)(: [^=]+)?( =>)? \{$/

function longFunctions(text: string): readonly string[] {
  const lines = text.split('\n')
  return lines.flatMap((line, start) => {
    const indent = FUNCTION_START.exec(line)?.[1]
    if (indent === undefined) return []
    const isEnd = new RegExp(`^${indent}\\}`)
    const length = lines.slice(start + 1).findIndex((later) => isEnd.test(later))
    return length > FUNCTION_LINES_MAX ? [`line ${start + 1}: ${length} lines`] : []
  })
}

test('no function is longer than its limit', (t) => {
  for (const file of SOURCES) t.deepEqual(longFunctions(textOf(file)), [], file)
})

test('the top level holds the listed files and no other', (t) => {
  const names = readdirSync(ROOT).filter((name) => !name.startsWith('.'))
  t.deepEqual(
    names.filter((name) => !TOP_LEVEL.includes(name)),
    [],
  )
})

test('the folders hold no junk drawer', (t) => {
  const drawers = /(^|\/)(helpers?|utils?|common|shared|misc|types|interfaces|classes)(\/|\.ts$)/
  t.deepEqual(
    [...SOURCES, ...TESTS].filter((file) => drawers.test(file)),
    [],
  )
})
