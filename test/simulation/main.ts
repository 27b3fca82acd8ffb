// Runs seeds: `npm run simulate -- --seeds N [--first S] [--minutes M] [--cluster|--sole] [--trace]
// [--until-failed]`, or measures how fast worlds are: `npm run simulate -- --speed`.

import { parseArgs } from 'node:util'

import { runSeed } from './run.ts'
import { fastest } from './speed.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10' },
    first: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '1' },
    cluster: { type: 'boolean', default: false },
    sole: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
    'until-failed': { type: 'boolean', default: false },
    speed: { type: 'boolean', default: false },
  },
})

const say = (line: string): void => void process.stdout.write(`${line}\n`)
if (values.speed) {
  say(await fastest())
  process.exit()
}
const seeds = Number(values.seeds)
const first = Number(values.first)
const kind = values.cluster ? true : values.sole ? false : undefined
let failed = 0
let ran = 0
for (let seed = first; seed < first + seeds; seed += 1) {
  if (values['until-failed'] && failed > 0) break
  ran += 1
  const { broken, hash, events, accepted } = await runSeed({
    seed,
    minutes: Number(values.minutes),
    isCluster: kind,
    ...(values.trace && { trace: say }),
  })
  if (values.trace) say(`seed ${seed}: hash ${hash}, ${events} events, ${accepted} accepted`)
  const [one] = broken
  if (one === undefined) continue
  failed += 1
  const more = broken.length === 1 ? '' : ` (and ${broken.length - 1} more)`
  say(`seed ${seed}: ${one.sentence}: ${one.detail}${more}`)
}
say(`${ran} seeds, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
