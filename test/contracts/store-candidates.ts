// Chunks are merged as soon as enough lie over each other, whoever wrote them.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { Joining } from '#src/store/retention/joining'
import { MERGED } from '#src/store/tiers/chunk-rows'
import { Merging } from '#src/store/tiers/merging'
import { FakeMeter } from '#test/support/fake-telemetry'
import { ChannelWriter } from '#test/support/store-writer'
import { thing } from '#test/support/submissions'
import { EVER, START, joinOld } from '#test/support/tiers'
import { openWatched } from '#test/support/watched-store'

type EmptyUrl = (t: ExecutionContext) => Promise<string>

async function processesOn(t: ExecutionContext, emptyUrl: EmptyUrl) {
  const store = await openWatched(t, await emptyUrl(t))
  const writer = await ChannelWriter.open(store, 1)
  /** A process that begins now. */
  const begun = () => {
    const merging = new Merging(store.database, store.tables, new FakeMeter())
    const joining = new Joining(store.database, store.tables, merging)
    return {
      merge: () => merging.merge(START, EVER),
      join: async (runs: number) => {
        for (let run = 0; run < runs; run += 1) {
          await writer.take(thing('update', 'a', { at: START + run, attrs: { n: run } })).commit()
          await joinOld({ joining })
        }
      },
    }
  }
  /** True once a place was looked at where chunks may lie over each other. */
  const hasLooked = () =>
    [...store.statements.texts.keys()].some((text) => text.includes('last_place DESC'))
  return { begun, hasLooked }
}

/** `emptyUrl`: that of an empty database, which several processes open. */
export function candidatesContract(engine: string, emptyUrl: EmptyUrl): void {
  test(`${engine}: candidates/3: chunks that other processes wrote, before and meanwhile, are merged as its own are`, async (t) => {
    const { begun } = await processesOn(t, emptyUrl)
    await begun().join(MERGED)
    t.is(await begun().merge(), MERGED)
    await begun().join(MERGED - 1)
    const last = begun()
    t.is(await last.merge(), 0)
    await last.join(1)
    t.is(await last.merge(), MERGED)
    t.is(await last.merge(), 0)
    await begun().join(MERGED - 1)
    await last.join(1)
    t.is(await last.merge(), MERGED)
  })

  test(`${engine}: candidates/3: a chunk counts once, whenever a process begins to count`, async (t) => {
    const { begun, hasLooked } = await processesOn(t, emptyUrl)
    const one = begun()
    await one.join(MERGED / 2)
    for (let run = MERGED / 2; run < MERGED; run += 1) {
      t.is(await one.merge(), 0)
      await one.join(1)
    }
    t.false(hasLooked())
    t.is(await one.merge(), MERGED)
    t.true(hasLooked())
  })
}
