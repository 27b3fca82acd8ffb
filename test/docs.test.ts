// Goal: what code and documents cite is there: each numbered decision, each document, each link.
// Method: read the citations of every source file and compare them with the files in docs.

import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import test from 'ava'

const ROOT = new URL('..', import.meta.url).pathname
const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

const SOURCES = ['src', 'actors', 'machines', 'test'].flatMap((folder) =>
  globSync(`${folder}/**/*.ts`, { cwd: ROOT }),
)
const DOCUMENTS = ['README.md', ...globSync('docs/*.md', { cwd: ROOT })]

/** The text of a document without its blocks of code. */
const proseOf = (path: string): string => textOf(path).replace(/^```[^]*?^```/gm, '')

/** The text with each comment that goes over several lines on one line. */
const joined = (text: string): string => text.replace(/\n\s*(?:\/\/|\*) ?/g, ' ')

/** Sections of the decisions that a text cites. */
const decisionsIn = (text: string): readonly string[] =>
  [...joined(text).matchAll(/decisions\.md (\d+(?:(?:,| and) \d+)*)/g)].flatMap(
    ([, numbers = '']) => numbers.match(/\d+/g) ?? [],
  )

/** Documents that a text names. */
const documentsIn = (text: string): readonly string[] =>
  (joined(text).match(/[\w./-]*\w\.md\b/g) ?? []).map((path) => path.replace(/^.*\//, ''))

test('citations are read over the lines of a comment, and lists of them whole', (t) => {
  t.deepEqual(decisionsIn('// The end. (decisions.md\n// 10) and decisions.md 7 and 8'), [
    '10',
    '7',
    '8',
  ])
  t.deepEqual(decisionsIn('/**\n   * (decisions.md 6, 7) or decisions.md 4, late data\n */'), [
    '6',
    '7',
    '4',
  ])
  t.deepEqual(documentsIn("see docs/session.md,\n// or '../README.md'"), [
    'session.md',
    'README.md',
  ])
})

test('every decision that a source file cites is a section of docs/decisions.md', (t) => {
  const sections = [...textOf('docs/decisions.md').matchAll(/^## (\d+)\. /gm)].map(([, n]) => n)
  const cited = SOURCES.flatMap((path) => decisionsIn(textOf(path)).map((n) => ({ path, n })))
  t.true(cited.length > 40, `only ${cited.length} citations were found`)
  t.deepEqual(
    cited.filter(({ n }) => !sections.includes(n)),
    [],
  )
})

test('every document that a source file names is in the repository', (t) => {
  const known = new Set(documentsIn(DOCUMENTS.join(' ')))
  const named = SOURCES.flatMap((path) => documentsIn(textOf(path)).map((name) => ({ path, name })))
  t.deepEqual(
    named.filter(({ name }) => !known.has(name)),
    [],
  )
})

test('every link of a document leads to a file of the repository', (t) => {
  const links = DOCUMENTS.flatMap((path) =>
    [...proseOf(path).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, to = '']) => ({ path, to })),
  )
  t.deepEqual(
    links.filter(({ path, to }) => !existsSync(join(ROOT, dirname(path), to))),
    [],
  )
})

/** The anchors of a document's headings, as GitHub makes them. */
function anchorsOf(path: string): ReadonlySet<string> {
  const seen = new Map<string, number>()
  return new Set(
    [...proseOf(path).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => {
      const anchor = heading
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-')
      const times = seen.get(anchor) ?? 0
      seen.set(anchor, times + 1)
      return times === 0 ? anchor : `${anchor}-${times}`
    }),
  )
}

test('every link to a section of a document leads to one of its headings', (t) => {
  const links = DOCUMENTS.flatMap((path) =>
    [...textOf(path).matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)].map(
      ([, to = '', anchor = '']) => ({
        path,
        to: to === '' ? path : join(dirname(path), to),
        anchor,
      }),
    ),
  )
  t.true(links.length > 50, `only ${links.length} links`)
  t.deepEqual(
    links.filter(({ to, anchor }) => !anchorsOf(to).has(anchor)),
    [],
  )
})

test('every file that docs/security.md names is there, and every invariant is one of its file', (t) => {
  const text = textOf('docs/security.md')
  const files = [
    ...text.matchAll(/`((?:src|test|actors|machines)\/[\w./-]+)`(?: \(([\w-]+\/\d+)\))?/g),
  ]
  t.true(files.length > 150, `only ${files.length} files are named`)
  const isThere = ([, path = '', invariant]: RegExpMatchArray): boolean =>
    existsSync(join(ROOT, path)) &&
    (invariant === undefined || textOf(path).includes(`//   ${invariant}.`))
  t.deepEqual(
    files.filter((named) => !isThere(named)).map(([named]) => named),
    [],
  )
})

test('a test of each row of docs/security.md has the labels of the invariants in that row', (t) => {
  const rows = textOf('docs/security.md')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split('|').slice(-3, -1))
  const named = rows.flatMap(([met = '', shown = '']) =>
    [...met.matchAll(/\(([\w-]+\/\d+)\)/g)].map(([, label = '']) => ({ label, shown })),
  )
  t.true(named.length > 60, `only ${named.length} invariants are named`)
  const testsIn = (shown: string): readonly string[] => shown.match(/test\/[\w./-]+/g) ?? []
  t.deepEqual(
    named.filter(
      ({ label, shown }) => !testsIn(shown).some((path) => textOf(path).includes(label)),
    ),
    [],
  )
})

test('every file and invariant that docs/architecture.md names is there', (t) => {
  const text = textOf('docs/architecture.md')
  const files = text.match(/(?<=`)(?:src|test|actors|machines)\/[\w./-]+\.ts(?=`)/g) ?? []
  t.true(files.length > 60, `only ${files.length} files are named`)
  t.deepEqual(
    files.filter((path) => !existsSync(join(ROOT, path))),
    [],
  )
  const declared = SOURCES.map(textOf).join('\n')
  const labels = text.match(/(?<=[ (`])[a-z][a-z-]*\/\d+\b/g) ?? []
  t.true(labels.length > 20, `only ${labels.length} invariants are named`)
  t.deepEqual(
    labels.filter((label) => !declared.includes(`//   ${label}.`)),
    [],
  )
})
