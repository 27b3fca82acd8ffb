// How often a series pauses while it works on what it has read.

import test from 'ava'

import { SeriesReading } from '#src/store/tiers/series'
import { FakeMeter } from '#test/support/fake-telemetry'
import { emptyFile } from '#test/support/sqlite-store'
import { ChannelWriter } from '#test/support/store-writer'
import { thing } from '#test/support/submissions'
import { START, joinOld } from '#test/support/tiers'
import { openWatched } from '#test/support/watched-store'

const READINGS = 600
const ATTRS = 64
const MINUTE = 60_000

// Method: a Thing with as many attrs as a tier counts, and the pauses of a read of all its values,
// of which one falls upon 8,192 of them at most.
for (const [step, kept] of [
  ['raw', 'joined'],
  ['5m', 'joined'],
  ['5m', 'not joined'],
] as const) {
  test(`series/3, raw/1: a series by ${step} of updates that are ${kept} pauses while it adds up values`, async (t) => {
    const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
    const writer = await ChannelWriter.open(store, 1)
    for (let reading = 0; reading < READINGS; reading += 1) {
      const at = START + reading * MINUTE
      const values = Array.from({ length: ATTRS }, (_, attr) => [`a${attr}`, reading] as const)
      writer.take(
        thing('update', 'lamp', { at, attrs: Object.fromEntries(values), acceptedAt: at }),
      )
      if (reading % 100 === 99) await writer.commit()
    }
    if (kept === 'joined') await joinOld(store)
    const { database } = store
    let pauses = 0
    const { soon } = database
    const counting: typeof soon = (task) => {
      pauses += 1
      soon(task)
    }
    Object.assign(database, { soon: counting })
    const query = { channelId: writer.channelId, thingId: 'lamp', from: START, to: START + 1e9 }
    const { attrs } = await new SeriesReading(database, new FakeMeter()).series({ ...query, step })
    t.is(Object.keys(attrs).length, ATTRS)
    t.true(pauses >= 2, `${pauses} pauses`)
  })
}
