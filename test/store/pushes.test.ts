// The statements of a turn on behalf of pushes.

import test from 'ava'

import { databasePath } from '#test/support/sqlite-store'
import { RULES, addPushDevice } from '#test/support/push-jobs'
import { ChannelWriter } from '#test/support/store-writer'
import { message } from '#test/support/submissions'
import { openWatched } from '#test/support/watched-store'

const askedFor = (texts: ReadonlyMap<string, unknown>, what: RegExp): number =>
  [...texts.keys()].filter((text) => what.test(text)).length

test('making/2: a turn asks for nothing without a provider, for the head alone without a subscriber', async (t) => {
  const rows = [
    [[], true, 0, 0],
    [['apns'], false, 1, 0],
    [['apns'], true, 1, 1],
  ] as const
  for (const [providers, hasDevice, heads, jobs] of rows) {
    const path = `sqlite:${await databasePath(t)}`
    const store = await openWatched(t, path, { ...RULES, providers })
    const writer = await ChannelWriter.open(store, 1)
    if (hasDevice) await addPushDevice(store, writer.channelId, 1)
    store.statements.texts.clear()
    await writer.take(message(), message()).commit()
    const { texts } = store.statements
    t.is(askedFor(texts, /has_provider_routes/), heads)
    t.is(askedFor(texts, /push_jobs/), jobs)
  }
})
