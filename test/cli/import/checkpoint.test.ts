// Goal: an import that goes on misses no row, however the outcomes came before.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import test from 'ava'
import type { ExecutionContext } from 'ava'
import { array, assert, integer, property } from 'fast-check'

import { UsageError } from '#src/cli/endings'
import { Checkpoint } from '#src/cli/import/checkpoint'

function pathFor(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-import-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return join(folder, 'checkpoint')
}

test('checkpoint/1: it never lies behind a row without an outcome', (t) => {
  assert(
    property(array(integer({ min: 1, max: 30 })), (rows) => {
      const checkpoint = new Checkpoint(undefined)
      const done = new Set<number>()
      for (const row of rows.filter((one, at) => rows.indexOf(one) === at)) {
        checkpoint.done(row)
        done.add(row)
        for (let before = 1; before <= checkpoint.row; before += 1) t.true(done.has(before))
        t.false(done.has(checkpoint.row + 1))
      }
    }),
  )
})

test('a saved checkpoint is read again', (t) => {
  const path = pathFor(t)
  const first = new Checkpoint(path)
  first.begin({ a: 1 })
  for (const row of [2, 1, 4]) first.done(row)
  first.save()
  const second = new Checkpoint(path)
  t.is(second.row, 2)
  second.begin({ a: 1 })
  second.save()
  t.is(new Checkpoint(path).row, 2)
})

test('checkpoint/2: that of another input and other files are refused, and left alone', (t) => {
  const path = pathFor(t)
  const first = new Checkpoint(path)
  first.begin({ a: 1 })
  first.save()
  const before = readFileSync(path, 'utf8')
  t.throws(() => new Checkpoint(path).begin({ a: 2 }), { instanceOf: UsageError })
  t.is(readFileSync(path, 'utf8'), before)
  for (const text of ['', 'x', '{}', '{"row": "1", "first_row": ""}']) {
    writeFileSync(path, text)
    t.throws(() => new Checkpoint(path), { instanceOf: UsageError }, text)
  }
})
