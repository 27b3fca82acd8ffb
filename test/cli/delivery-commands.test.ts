// Goal: a shell command runs for each delivery and gets the delivery; only so many run at once.
// Method: real shells write into files and wait for files.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { DeliveryCommands } from '#src/cli/deliveries/delivery-commands'
import { deliveryJson } from '#src/cli/deliveries/delivery-members'
import { delivery } from '#test/support/delivery'
import { until } from '#test/support/until'

function commandsIn(t: ExecutionContext, command: string, jobs: number) {
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-exec-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const diagnostics: string[] = []
  const printDiagnostic = (line: string): void => void diagnostics.push(line)
  const env = { ...process.env, FOLDER: folder }
  return {
    folder,
    diagnostics,
    commands: new DeliveryCommands({ command, jobs, env, printDiagnostic }),
  }
}

const entry = (seq: number, payload: object = {}) => ({
  channelName: 'Home',
  delivery: delivery({ seq, delivery_id: `d-${seq}`, payload }),
})

test('a command gets the delivery in variables and on its standard input', async (t) => {
  const { folder, commands, diagnostics } = commandsIn(
    t,
    'cat > "$FOLDER/json"; printf "%s|%s|%s" "$HELIOGRAPH_SEQ" "$HELIOGRAPH_TITLE" "$HELIOGRAPH_STATE" > "$FOLDER/text"',
    1,
  )
  const named = entry(9, { title: 'a "b" $(c)\0' })
  await commands.run(named)
  t.is(readFileSync(join(folder, 'text'), 'utf8'), '9|a "b" $(c)|')
  t.is(readFileSync(join(folder, 'json'), 'utf8'), `${deliveryJson(named)}\n`)
  t.deepEqual(diagnostics, [])
})

/** Commands that say that they have begun and then wait; how to see that, and to end them. */
function waitingCommands(t: ExecutionContext, jobs: number) {
  const waiting = '[ -d "$FOLDER" ] && [ ! -e "$FOLDER/go-$HELIOGRAPH_SEQ" ]'
  const command = `touch "$FOLDER/begun-$HELIOGRAPH_SEQ"; while ${waiting}; do sleep 0.05; done`
  const { folder, commands } = commandsIn(t, command, jobs)
  const begins = (seq: number): Promise<void> =>
    until(`command ${seq} begins`, () => existsSync(join(folder, `begun-${seq}`)))
  const end = (seq: number): void => writeFileSync(join(folder, `go-${seq}`), '')
  /** Runs the command of a delivery; tells whether the next delivery may come. */
  const run = (seq: number) => {
    let isLetIn = false
    const letIn = commands.run(entry(seq)).then(() => {
      isLetIn = true
    })
    return { letIn, mayNextCome: () => isLetIn }
  }
  return { commands, begins, end, run }
}

test('delivery-commands/1: no more commands run at once than there are jobs', async (t) => {
  const { commands, begins, end, run } = waitingCommands(t, 2)
  const [first, second] = [run(1), run(2)]
  await begins(1)
  await begins(2)
  t.true(first.mayNextCome())
  t.false(second.mayNextCome())
  end(2)
  await second.letIn
  const third = run(3)
  await begins(3)
  t.false(third.mayNextCome())
  for (const seq of [1, 3]) end(seq)
  await commands.idle()
})

test('delivery-commands/2: with one job a command ends before the next one begins', async (t) => {
  const { begins, end, run } = waitingCommands(t, 1)
  for (const seq of [1, 2]) {
    const { letIn, mayNextCome } = run(seq)
    await begins(seq)
    t.false(mayNextCome())
    end(seq)
    await letIn
  }
})

test('a diagnostic reports a command that fails, and the next delivery runs its own', async (t) => {
  const { diagnostics, commands } = commandsIn(t, 'exit 3', 1)
  await commands.run(entry(1))
  await commands.run(entry(2))
  t.deepEqual(diagnostics, ['the command for d-1 ended with 3', 'the command for d-2 ended with 3'])
})
