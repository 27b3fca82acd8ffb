// Every test runs once, in whichever process, and none changes what those behind it find.

import { readdirSync } from 'node:fs'

import test from 'ava'

import manifest from '#package' with { type: 'json' }
import { leavingAsFound } from '#test/support/group-test'
import {
  ALONE,
  EVERY_FILE,
  GROUPS,
  LONGEST,
  filesOf,
  filesOfRun,
  longestFirst,
} from '#test/support/test-groups'

test('test-groups/1: a whole run has every file of tests once, in its group or alone', (t) => {
  const names = readdirSync('test/groups').map((name) => name.replace(/\.ts$/, ''))
  const files = filesOfRun(['--tap']).flatMap((file) => {
    const [, group] = /^test\/groups\/(.+)\.ts$/.exec(file) ?? []
    return group === undefined ? [file] : filesOf(group)
  })
  t.deepEqual(names.toSorted(), Object.keys(GROUPS).toSorted())
  t.deepEqual(files.toSorted(), [...EVERY_FILE])
  t.true(EVERY_FILE.includes('test/groups.test.ts'))
})

test('test-groups/1: the command of package.json makes a whole run, and with a file it does not', (t) => {
  const [, ...args] = manifest.scripts.test.split(' ')
  t.deepEqual(filesOfRun([...args, '--tap']), filesOfRun([]))
  t.deepEqual(filesOfRun([...args, 'test/docs.test.ts']), ['test/**/*.test.ts'])
})

for (const args of [['test/docs.test.ts'], ['--match=a title'], ['-m', 'a title']]) {
  test(`a run of ${args.join(' ')} takes each file alone`, (t) => {
    t.deepEqual(filesOfRun(args), ['test/**/*.test.ts'])
  })
}

test('a group that is named runs', (t) => {
  t.true(filesOfRun(['test/groups/http.ts']).includes('test/groups/http.ts'))
})

test('what says that it runs alone is there', (t) => {
  for (const file of Object.keys(ALONE)) t.true(EVERY_FILE.includes(file), file)
})

test('the files that take longest begin first, and each of them is in a run', (t) => {
  const files = filesOfRun(['--tap']).map((file) => `/elsewhere/${file}`)
  const first = files.toSorted(longestFirst).slice(0, LONGEST.length)
  t.deepEqual(
    first,
    LONGEST.map((file) => `/elsewhere/${file}`),
  )
})

for (const part of Object.values(GROUPS).flat()) {
  test(`${part} of a group has tests`, (t) => {
    t.true(EVERY_FILE.some((file) => `${file}/`.startsWith(`test/${part}/`)))
  })
}

const listener = (): void => {}
const CHANGES: Readonly<Record<string, readonly [change: () => void, undo: () => void]>> = {
  'its directory': [() => process.chdir('test'), () => process.chdir('..')],
  'its environment': [
    () => (process.env['OF_THIS_TEST'] = 'set'),
    () => delete process.env['OF_THIS_TEST'],
  ],
  'who is told of a forgotten rejection': [
    () => process.on('unhandledRejection', listener),
    () => process.off('unhandledRejection', listener),
  ],
}

for (const [what, [change, undo]] of Object.entries(CHANGES)) {
  test.serial(`group-test/1: a test of a group that changes of the process ${what} fails`, (t) => {
    const teardowns: (() => unknown)[] = []
    const fake = { teardown: (end: () => unknown) => void teardowns.push(end) }
    void leavingAsFound<typeof fake>(change)(fake)
    t.throws(() => teardowns[0]?.(), {
      message: /^the test leaves the process with other (\w| )+$/,
    })
    undo()
    t.notThrows(() => teardowns[0]?.())
  })
}
