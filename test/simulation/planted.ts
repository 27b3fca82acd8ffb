// Plants one fault after the other into a copy of the product, and runs seeds until one fails:
// `node --conditions=heliograph-source test/simulation/planted.ts [name ...]`. The status is 1 when
// one is not found.

import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const PATCHES = join(import.meta.dirname, 'planted')
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

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const asked = process.argv.slice(2)
const names = readdirSync(PATCHES)
  .map((file) => file.replace(/\.patch$/, ''))
  .filter((name) => asked.length === 0 || asked.includes(name))
let missed = 0
for (const name of names) {
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-planted-'))
  try {
    for (const part of COPIED) cpSync(join(ROOT, part), join(folder, part), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    const patch = join(PATCHES, `${name}.patch`)
    execFileSync('patch', ['--strip=1', '--silent', `--input=${patch}`], { cwd: folder })
    const kind = /^--(?:sole|cluster)\n/.exec(readFileSync(patch, 'utf8'))?.[0].trim()
    const script = ['test/simulation/main.ts', '--seeds', SEEDS, '--until-failed']
    if (kind !== undefined) script.push(kind)
    const { status, stdout } = spawnSync(process.execPath, [...process.execArgv, ...script], {
      cwd: folder,
      encoding: 'utf8',
    })
    const [first = '', last = ''] = stdout.trim().split('\n')
    if (status === 1)
      say(`${name}: found after ${last.split(' ')[0]} seeds: ${first.slice(0, 160)}`)
    else {
      missed += 1
      say(`${name}: not found in ${SEEDS} seeds`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
say(`${names.length} faults, ${missed} not found`)
process.exit(missed === 0 ? 0 : 1)
