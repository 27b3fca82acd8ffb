// Goal: what a key or a stranger can make the process keep or compute has a bound that a line keeps
// and a metric shows; the table of them in docs/architecture.md is true, and leaves no gauge out.
// Method: read its rows, and look labels, files and metrics up in the code.

import { readFileSync } from 'node:fs'

import test from 'ava'

import { METRICS } from '#domain/telemetry'
import { ROOT, SOURCES, textOf } from '#test/support/sources'

const HEADING = '\n## What a key or a stranger can make the process keep or compute\n'
const ARCHITECTURE = readFileSync(`${ROOT}/docs/architecture.md`, 'utf8')

/** Gauges of a state, and not of an amount that a key or a stranger can make grow. */
const STATES = [
  'bridge_connected',
  'lanes_with_deadlines',
  'leases_held',
  'push_circuit_open',
  'push_credentials_refused',
  'push_providers_differing',
  'push_queue_age_seconds',
  'store_driver_fallback',
]

interface Bound {
  readonly what: string
  readonly bound: string
  readonly metrics: readonly string[]
  readonly kept: readonly (readonly [label: string, file: string])[]
}

/** `slots/1, slots/2 in `file`; …` */
const keptIn = (cell: string): Bound['kept'] =>
  cell.split(';').flatMap((part) => {
    const [labels = '', file = ''] = part.split(' in ')
    return labels
      .split(',')
      .map((label) => [label.trim(), file.replaceAll('`', '').trim()] as const)
  })

const section = ARCHITECTURE.split(HEADING)[1]?.split('\n## ')[0] ?? ''
const BOUNDS: readonly Bound[] = section
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2)
  .map((line) => {
    const [what = '', bound = '', metrics = '', kept = ''] = line
      .split('|')
      .slice(1)
      .map((cell) => cell.trim())
    const names = [...metrics.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)
    return { what, bound, metrics: names, kept: keptIn(kept) }
  })

const LABEL = /^(?:W\d|[a-z][a-z-]*\/\d+)$/

test('each bound has a label, which its file carries', (t) => {
  t.true(BOUNDS.length > 40, `only ${BOUNDS.length} rows were found`)
  for (const { what, kept } of BOUNDS) {
    for (const [label, file] of kept) {
      t.regex(label, LABEL, what)
      if (!SOURCES.includes(file)) t.fail(`${what}: ${file} is no source file`)
      else
        t.true(
          textOf(file)
            .match(/[\w-]+\/\d+|W\d/g)
            ?.includes(label),
          `${what}: ${label}`,
        )
    }
  }
})

test('each bound says how much, and has a metric that is declared', (t) => {
  for (const { what, bound, metrics } of BOUNDS) {
    t.not(bound, '', what)
    t.true(metrics.length > 0, what)
    t.deepEqual(
      metrics.filter((name) => !Object.hasOwn(METRICS, name)),
      [],
      what,
    )
  }
})

test('each gauge is of a bound, or tells a state', (t) => {
  const shown = new Set([...STATES, ...BOUNDS.flatMap(({ metrics }) => metrics)])
  const gauges = Object.entries(METRICS).filter(([, { kind }]) => kind === 'gauge')
  t.deepEqual(
    gauges.map(([name]) => name).filter((name) => !shown.has(name)),
    [],
  )
  t.deepEqual(
    STATES.filter((name) => !Object.hasOwn(METRICS, name)),
    [],
  )
})

test('no bound is there twice', (t) => {
  t.is(new Set(BOUNDS.map(({ what }) => what)).size, BOUNDS.length)
})
