// Goal: promises hold whatever fails, in whatever order.
// Method: whole gateways in one thread on virtual time, with faults that a seed draws. (README.md)

import { randomInt } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import test from 'ava'

import { KNOWN_SEEDS } from './known-seeds.ts'
import { plantedFaults, withFault } from './planted-fault.ts'
import { runSeed } from './run.ts'
import type { Ran } from './run.ts'
import { calmSwarm } from './swarm.ts'

/**
 * Milliseconds of processor time for fresh seeds, and of real time at most: other programs may take
 * most of the processor.
 */
const FRESH_MS = process.env['CI'] === 'true' ? 15_000 : 5_000
const FRESH_REAL_MS = 1.5 * FRESH_MS
const MINUTES = 0.25

const usedMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

const sentencesOf = ({ broken }: Ran): readonly string[] =>
  broken.map(({ sentence, detail }) => `${sentence}: ${detail}`)

for (const isCluster of [true, false]) {
  const title = isCluster ? 'a cluster' : 'a sole process'
  test.serial(`a seed gives ${title} the same run, event by event`, async (t) => {
    const options = { seed: 7, minutes: MINUTES, isCluster }
    const [one, other] = [await runSeed(options), await runSeed(options)]
    t.deepEqual(one, other)
    t.true(one.accepted > 10, `${one.accepted} were accepted`)
  })
}

test.serial('each planted fault is of lines that the product has', async (t) => {
  const faults = plantedFaults()
  t.true(faults.length >= 12)
  for (const fault of faults) {
    const text = await readFile(join(import.meta.dirname, '../..', fault.path), 'utf8')
    t.not(withFault(text, fault), undefined, fault.name)
    t.not(withFault(text, fault), text, fault.name)
  }
})

test.serial('seeds that failed once keep every promise', async (t) => {
  for (const { seed, isCluster, was } of KNOWN_SEEDS) {
    t.deepEqual(
      sentencesOf(await runSeed({ seed, isCluster, minutes: MINUTES })),
      [],
      `${seed}: ${was}`,
    )
  }
  t.pass()
})

test.serial('a world comes to rest in which people are reminded again and again', async (t) => {
  const calm = calmSwarm(1, 10)
  const shares = { ...calm.shares, message: 0, event: 1, scheduled: 1 }
  const swarm = { ...calm, lanes: 1, devices: 1, shares }
  t.deepEqual(sentencesOf(await runSeed({ seed: 2, minutes: 1, swarm })), [])
})

test.serial('fresh seeds keep every promise', async (t) => {
  const [usedTo, until] = [usedMs() + FRESH_MS, performance.now() + FRESH_REAL_MS]
  do {
    const seed = randomInt(2 ** 31)
    const command = `npm run simulate -- --seeds 1 --first ${seed} --minutes ${MINUTES}`
    t.deepEqual(sentencesOf(await runSeed({ seed, minutes: MINUTES })), [], command)
  } while (usedMs() < usedTo && performance.now() < until)
})
