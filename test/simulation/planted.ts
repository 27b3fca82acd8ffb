// Plants one fault after the other into a copy of the product, and runs seeds until one fails:
// `node --conditions=heliograph-source test/simulation/planted.ts [--minutes M] [name ...]`. The
// status is 1 when one is not found.

import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { plantedFaults, withFault } from './planted-fault.ts'
import type { PlantedFault } from './planted-fault.ts'

const ROOT = join(import.meta.dirname, '../..')
const SEEDS = '200'
const COPIED = [
  'src',
  'actors',
  'machines',
  'test',
  'ormconfig.ts',
  'package.json',
  'tsconfig.json',
]

const { values, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: 'string', default: '0.25' } },
})

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Says what a copy with the fault does; false when every seed keeps every promise there. */
function isFound(fault: PlantedFault): boolean {
  const { name, kind, path } = fault
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-planted-'))
  try {
    for (const part of COPIED) cpSync(join(ROOT, part), join(folder, part), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    const planted = withFault(readFileSync(join(folder, path), 'utf8'), fault)
    if (planted === undefined) throw new Error(`${path} has no place for ${name}`)
    writeFileSync(join(folder, path), planted)
    const script = ['test/simulation/main.ts', '--seeds', SEEDS, '--until-failed']
    script.push('--minutes', values.minutes)
    if (kind !== undefined) script.push(kind)
    const fromMs = performance.now()
    const { status, stdout } = spawnSync(process.execPath, [...process.execArgv, ...script], {
      cwd: folder,
      encoding: 'utf8',
    })
    const [first = '', last = ''] = stdout.trim().split('\n')
    const after = `${last.split(' ')[0]} seeds, ${((performance.now() - fromMs) / 1_000).toFixed(0)} s`
    if (status === 1) say(`${name}: found after ${after}: ${first.slice(0, 160)}`)
    else say(`${name}: not found in ${SEEDS} seeds`)
    return status === 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const faults = plantedFaults().filter(({ name }) => asked.length === 0 || asked.includes(name))
const missed = faults.filter((fault) => !isFound(fault)).length
say(`${faults.length} faults, ${missed} not found`)
process.exit(missed === 0 ? 0 : 1)
