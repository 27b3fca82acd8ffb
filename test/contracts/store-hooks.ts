// The hooks of channels, and the Events of alarms whose tools do not tell when they began.

import test from 'ava'

import { EPISODES_MAX } from '#domain/hooks'
import { ChannelWriter } from '#test/support/store-writer'
import { channel } from '#test/support/submissions'
import type { OpenStore } from './store-contract.ts'

const [A, B, NONE] = [channel(1), channel(2), channel(3)]
const sourceOf = (number: number): string => String(number).padStart(32, '0')
const episode = (eventId: string, channelId = A, source = sourceOf(1)) => ({
  channelId,
  source,
  eventId,
})

export function hookContract(engine: string, open: OpenStore): void {
  test(`${engine}: hooks stay until others take their place, and go with their channel`, async (t) => {
    const { hooks, channels } = await withTwo(await open(t))
    t.is(await hooks.find(A), undefined)
    t.true(await hooks.put(A, { mappings: '[1]', secrets: '{}' }))
    t.true(await hooks.put(A, { mappings: '[2]', secrets: '{"github":"s"}' }))
    t.false(await hooks.put(NONE, { mappings: '[]', secrets: '{}' }))
    t.deepEqual(await hooks.find(A), { mappings: '[2]', secrets: '{"github":"s"}' })
    t.is(await hooks.find(B), undefined)
    await channels.delete(A, 5)
    t.is(await hooks.find(A), undefined)
  })

  test(`${engine}: stored-hooks/1: an alarm has one Event until its end`, async (t) => {
    const { hooks } = await withTwo(await open(t))
    t.is(await hooks.episode(A, sourceOf(1)), undefined)
    const names = Array.from({ length: 8 }, (_, at) => `event-${at}`)
    const outcomes = await Promise.all(names.map((name) => hooks.begin(episode(name))))
    t.is(outcomes.filter((outcome) => outcome === 'begun').length, 1)
    const eventId = names[outcomes.indexOf('begun')] ?? ''
    t.deepEqual(await hooks.episode(A, sourceOf(1)), { eventId, endedAt: 0 })
    t.is(await hooks.begin(episode(eventId)), 'begun')
    t.is(await hooks.begin(episode('of another channel', B)), 'begun')
    t.is(await hooks.begin(episode('of no channel', NONE)), 'no-channel')
    await hooks.end(episode('another one'), 7)
    t.is((await hooks.episode(A, sourceOf(1)))?.endedAt, 0)
    await hooks.end(episode(eventId), 7)
    t.deepEqual(await hooks.episode(A, sourceOf(1)), { eventId, endedAt: 7 })
    t.is(await hooks.begin(episode('the next')), 'begun')
    t.deepEqual(await hooks.episode(A, sourceOf(1)), { eventId: 'the next', endedAt: 0 })
    t.is((await hooks.episode(B, sourceOf(1)))?.eventId, 'of another channel')
  })

  test(`${engine}: stored-hooks/2: a channel has so many open alarms and no more; ended ones make room`, async (t) => {
    const { hooks } = await withTwo(await open(t))
    for (let first = 0; first < EPISODES_MAX; first += 200) {
      const sources = Array.from({ length: 200 }, (_, at) => sourceOf(first + at))
      await Promise.all(sources.map((source) => hooks.begin(episode('e', A, source))))
    }
    t.is(await hooks.begin(episode('e', A, sourceOf(EPISODES_MAX))), 'full')
    t.is(await hooks.begin(episode('e', A, sourceOf(0))), 'begun')
    t.is(await hooks.begin(episode('e', B, sourceOf(0))), 'begun')
    await hooks.end(episode('e', A, sourceOf(0)), 7)
    t.is(await hooks.begin(episode('e', A, sourceOf(EPISODES_MAX))), 'begun')
    t.is(await hooks.episode(A, sourceOf(0)), undefined)
  })
}

/** A store with the first two channels. */
async function withTwo<Opened extends Awaited<ReturnType<OpenStore>>>(store: Opened) {
  await ChannelWriter.open(store, 1)
  await ChannelWriter.open(store, 2)
  return store
}
