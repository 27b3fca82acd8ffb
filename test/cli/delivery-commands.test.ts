// Goal: a command runs for each delivery, with the delivery in its hands, and not too many at once.
// Method: real shells that write into files, and that wait for files.

import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { DeliveryCommands } from '#src/cli/delivery-commands'
import { deliveryJson } from '#src/cli/delivery-line'
import { delivery } from '#test/support/delivery'

function commandsIn(t: ExecutionContext, command: string, jobs: number) {
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-exec-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const complaints: string[] = []
  const complain = (line: string): void => void complaints.push(line)
  const env = { ...process.env, FOLDER: folder }
  return { folder, complaints, commands: new DeliveryCommands({ command, jobs, env, complain }) }
}

const entry = (seq: number, payload: object = {}) => ({
  channelName: 'Home',
  delivery: delivery({ seq, delivery_id: `d-${seq}`, payload }),
})

test('a command has the delivery as variables and on its standard input', async (t) => {
  const { folder, commands, complaints } = commandsIn(
    t,
    'cat > "$FOLDER/json"; printf "%s|%s|%s" "$HELIOGRAPH_SEQ" "$HELIOGRAPH_TITLE" "$HELIOGRAPH_STATE" > "$FOLDER/text"',
    1,
  )
  const named = entry(9, { title: 'a "b" $(c)\0' })
  await commands.run(named)
  t.is(readFileSync(join(folder, 'text'), 'utf8'), '9|a "b" $(c)|')
  t.is(readFileSync(join(folder, 'json'), 'utf8'), `${deliveryJson(named.delivery, 'Home')}\n`)
  t.deepEqual(complaints, [])
})

test('delivery-commands/2: with one job a command ends before the next one begins', async (t) => {
  const { folder, commands } = commandsIn(t, 'echo "$HELIOGRAPH_SEQ" >> "$FOLDER/order"', 1)
  for (const seq of [1, 2, 3]) {
    await commands.run(entry(seq))
    t.is(readFileSync(join(folder, 'order'), 'utf8').trim().split('\n').length, seq)
  }
})

test('delivery-commands/1: no more commands run at once than there are jobs', async (t) => {
  const command =
    'touch "$FOLDER/begun-$HELIOGRAPH_SEQ"; until [ -e "$FOLDER/go-$HELIOGRAPH_SEQ" ]; do sleep 0.05; done'
  const { folder, commands } = commandsIn(t, command, 2)
  const has = (name: string): boolean => readdirSync(folder).includes(name)
  // Bounded by the time of a test.
  const appears = async (name: string): Promise<void> => {
    while (!has(name)) await delay(10)
  }
  await commands.run(entry(1))
  const second = commands.run(entry(2))
  await appears('begun-1')
  await appears('begun-2')
  let isThirdLetIn = false
  const third = second.then(async () => {
    isThirdLetIn = true
    await commands.run(entry(3))
  })
  t.false(isThirdLetIn)
  t.false(has('begun-3'))
  writeFileSync(join(folder, 'go-2'), '')
  await appears('begun-3')
  for (const seq of [1, 3]) writeFileSync(join(folder, `go-${seq}`), '')
  await third
  await commands.idle()
  t.true(isThirdLetIn)
})

test('a command that fails is told, and the next delivery has its turn', async (t) => {
  const { complaints, commands } = commandsIn(t, 'exit 3', 1)
  await commands.run(entry(1))
  await commands.run(entry(2))
  t.deepEqual(complaints, ['the command for d-1 ended with 3', 'the command for d-2 ended with 3'])
})
