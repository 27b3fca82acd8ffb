// npm run bench: measures rows against their denominators in one run and prints one table. It
// asserts nothing: a measurement that ends is a success, whatever it says.

import { writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, totalmem } from 'node:os'

import { readArguments } from './arguments.ts'
import type { BenchArguments } from './arguments.ts'
import { steadiness } from './load/steadiness.ts'
import { ROWS, ROWS_BY_NAME } from './rows/all.ts'
import { recordOf } from './rows/row.ts'
import type { Figure } from './rows/row.ts'
import { Session } from './rows/session.ts'
import { tableOf } from './table.ts'

const BAD_ARGUMENTS = 64

async function run({ rows, jsonFile, secondsPerStep, runs }: BenchArguments): Promise<void> {
  const startMs = performance.now()
  const say = (line: string): void => console.log(line)
  say(
    `Node ${process.version}, ${availableParallelism()} cores (${cpus()[0]?.model}), ${machineMemory()}`,
  )
  say(
    `302-byte Thing updates, 10,000 things in 1,000 channels, median of ${runs}, ${secondsPerStep} s each`,
  )
  const { p50Ms, p99Ms } = steadiness()
  say(`a fixed computation takes ${p50Ms.toFixed(1)} ms p50, ${p99Ms.toFixed(1)} p99`)
  const session = new Session({ secondsPerStep, runs, say })
  try {
    const figures = await measured(session, rows)
    say(`\n${tableOf(figures)}\n`)
    if (jsonFile !== undefined) await writeFile(jsonFile, `${json(figures)}\n`)
  } finally {
    await session.close()
  }
  say(`measured in ${Math.round((performance.now() - startMs) / 1_000)} s`)
}

async function measured(session: Session, names: readonly string[]): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const row of [...ROWS, ...ROWS_BY_NAME].filter(({ name }) => names.includes(name))) {
    session.options.say(row.name)
    figures.push(...(await row.measure(session)))
  }
  return figures
}

const json = (figures: readonly Figure[]): string => JSON.stringify(figures.map(recordOf), null, 2)

const machineMemory = (): string => `${Math.round(totalmem() / 2 ** 30)} GiB`

// Leaves by the way on which everything that was started is ended.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const read = readArguments(
  process.argv.slice(2),
  ROWS.map(({ name }) => name),
  ROWS_BY_NAME.map(({ name }) => name),
)
if (typeof read === 'string') {
  console.error(read)
  process.exitCode = BAD_ARGUMENTS
} else {
  await run(read)
}
