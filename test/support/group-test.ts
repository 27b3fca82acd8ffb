// The `test` of the files that run together in one process: each runs alone, under the name of its
// file, and fails when it leaves the process changed for those behind it.

import ava from 'ava'
import type { ExecutionContext } from 'ava'

type Run = (t: ExecutionContext) => void | Promise<void>
type Declare = (title: string, run: Run) => void

// AVA starts at the first test that it is told of, and takes none afterwards: it is told of all at
// once, after the last file is loaded.
const declarations: (() => void)[] = []
let fileName = ''

/** Names the file whose tests come next. */
export function beginFile(file: string): void {
  fileName = file.replace(/^test\//, '').replace(/\.test\.ts$/, '')
}

/** Tells AVA of the tests of every file. */
export function declareAll(): void {
  for (const declare of declarations) declare()
}

const ofFile =
  (declare: Declare): Declare =>
  (title, run) => {
    const named = `${fileName}: ${title}`
    declarations.push(() => declare(named, leavingAsFound(run)))
  }

/** Returns the test, which fails when it leaves what all files share in another state. */
export const leavingAsFound =
  <Context extends Pick<ExecutionContext, 'teardown'>>(
    run: (t: Context) => void | Promise<void>,
  ): ((t: Context) => void | Promise<void>) =>
  (t) => {
    const found = SHARED.map(([, valueOf]) => valueOf())
    // AVA runs teardowns in reverse order, so this one follows those of the test.
    t.teardown(() => {
      const changed = SHARED.filter(([, valueOf], index) => valueOf() !== found[index])
      const names = changed.map(([name]) => name).join(', ')
      if (names !== '') throw new Error(`the test leaves the process with other ${names}`)
    })
    return run(t)
  }

const EVENTS = ['SIGINT', 'SIGTERM', 'uncaughtException', 'unhandledRejection']

const SHARED: readonly (readonly [name: string, valueOf: () => string])[] = [
  ['working directory', () => process.cwd()],
  ['environment', () => JSON.stringify(process.env)],
  ['listeners', () => EVENTS.map((event) => process.listenerCount(event)).join(' ')],
]

const serial: Declare = (title, run) => ava.serial(title, run)

// Servers start before the first test of the group and end after its last one.
const before: Declare = (title, run) => {
  declarations.push(() => ava.before(title, run))
}
const afterwards: Declare = (title, run) => {
  declarations.push(() => ava.after.always(title, run))
}

/** Replaces AVA's `test` in the files of a group. A file that needs more of AVA is a row of ALONE. */
export default Object.assign(ofFile(serial), {
  serial: ofFile(serial),
  before,
  after: { always: afterwards },
})
