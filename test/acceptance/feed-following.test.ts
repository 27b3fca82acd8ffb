// Goal: whoever follows a feed without being a device may do so as long as its secret opens the
// channel, and holds no more than its share.

import test from 'ava'

import { parseChannelId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import { FOLLOWED, FeedFollowing } from '#src/acceptance/feed-following'
import type { FeedUpdate, Follower, StillOpens } from '#src/acceptance/follower'
import { FakeBus } from '#test/support/fake-bus'
import { FakeReads } from '#test/support/fake-reads'
import { FakeMeter } from '#test/support/fake-telemetry'
import { FakeTime } from '#test/support/fake-timers'
import { CHANNEL, NOW_MS } from '#test/support/making'
import { turn } from '#test/support/until'

const A = parseChannelId(CHANNEL) as ChannelId
const LIFE_MS = 45_000
type Verdict = Awaited<ReturnType<StillOpens>>

function startFollowing() {
  const time = new FakeTime(NOW_MS)
  const bus = new FakeBus()
  const meter = new FakeMeter()
  const ports = { read: new FakeReads(), bus, meter, timers: time, nowMs: time.nowMs }
  const following = new FeedFollowing(ports)
  const asked: number[] = []
  const world = { verdict: (): Promise<Verdict> | Verdict => 'yes' }
  const stillOpens: StillOpens = async (nowMs) => {
    asked.push(nowMs)
    return world.verdict()
  }
  const follow = (
    address?: string,
    channelIds: readonly ChannelId[] = [A],
    expiresAt = 0,
  ): Follower | undefined =>
    following.follow({ channelIds, address, expiresAt, stillOpens }, new AbortController().signal)
  const one = (): { readonly follower: Follower; readonly updates: FeedUpdate[] } => {
    const follower = follow()
    if (follower === undefined) throw new Error('full')
    const updates: FeedUpdate[] = []
    const listen = async (): Promise<void> => {
      while (updates.at(-1) !== 'end') updates.push(await follower.next())
    }
    void listen()
    return { follower, updates }
  }
  const announce = (): void => bus.announce([{ channelId: A, entries: [], headSeq: 1 }])
  return { time, meter, following, asked, world, follow, one, announce }
}

test('feed-following/1: channels are followed up to the bound of an address, and of all', (t) => {
  const { follow, following, meter } = startFollowing()
  const several = Array<ChannelId>(FOLLOWED.perAddress / 2).fill(A)
  const address = '192.0.2.1'
  const first = follow(address, several)
  t.truthy(follow(address, several))
  t.is(follow(address), undefined)
  t.is(following.refusal({ channelIds: [A], address })?.code, 'rate_limited')
  first?.stop()
  first?.stop()
  t.is(following.refusal({ channelIds: several, address }), undefined)
  t.is(following.refusal({ channelIds: [...several, A], address })?.code, 'rate_limited')
  let others = 0
  while (follow(`192.0.2.${2 + (others >> 1)}`, several) !== undefined) others += 1
  t.is(others, (FOLLOWED.total - several.length) / several.length)
  t.is(following.refusal({ channelIds: [A], address: undefined })?.code, 'server_busy')
  t.is(meter.gauges.get('feed_streams')?.(), FOLLOWED.total)
})

// What a caller's secret opens at a sign of life, and what the follower tells then.
const AT_LIFE: readonly (readonly [verdict: Verdict, told: 'quiet' | 'end'])[] = [
  ['yes', 'quiet'],
  ['unknown', 'quiet'],
  ['no', 'end'],
]

for (const [verdict, told] of AT_LIFE) {
  test(`follower/2: a sign of life with the verdict ${verdict} tells ${told}`, async (t) => {
    const { one, time, asked, world } = startFollowing()
    const { updates } = one()
    time.advance(LIFE_MS - 1)
    await turn()
    t.deepEqual([asked, updates], [[], []])
    world.verdict = () => verdict
    time.advance(1)
    await turn()
    t.deepEqual([asked, updates], [[NOW_MS + LIFE_MS], [told]])
  })
}

test('follower/2: a busy follower has signs of life, too', async (t) => {
  const { one, time, announce, world } = startFollowing()
  const { updates } = one()
  for (let second = 1; second < 90; second += 1) {
    if (second === 46) world.verdict = () => 'no'
    time.advance(1_000)
    announce()
    await turn()
  }
  t.is(updates.length, 90)
  time.advance(1_000)
  await turn()
  t.is(updates.at(-1), 'end')
})

for (const [verdict, told] of [
  ['yes', [new Set([A])]],
  ['unknown', ['end']],
  ['no', ['end']],
] as const) {
  test(`follower/3: from a notice to the verdict ${verdict} nothing is told`, async (t) => {
    const { one, following, announce, world } = startFollowing()
    const { updates } = one()
    const { promise, resolve } = Promise.withResolvers<Verdict>()
    world.verdict = () => promise
    following.changed(A)
    announce()
    await turn()
    t.deepEqual(updates, [])
    resolve(verdict)
    await turn()
    t.deepEqual(updates, [...told])
  })
}

test('follower/3: a change during a check is asked about once more', async (t) => {
  const { one, following, asked, world } = startFollowing()
  const { updates } = one()
  const { promise, resolve } = Promise.withResolvers<Verdict>()
  world.verdict = () => promise
  following.changed(A)
  following.changed(A)
  following.changed(A)
  world.verdict = () => 'no'
  resolve('yes')
  await turn()
  t.is(asked.length, 2)
  t.deepEqual(updates, ['end'])
})

test('feed-following/2: a follower proves itself anew when its key expires, also after weeks', async (t) => {
  const { follow, time, asked } = startFollowing()
  const atMs = NOW_MS + 30 * 86_400_000
  const follower = follow(undefined, [A], atMs)
  const another = follow(undefined, [A], atMs)
  another?.stop()
  time.advance(atMs - NOW_MS - 1)
  await turn()
  const before = asked.length
  time.advance(1)
  await turn()
  t.deepEqual([asked.length - before, asked.at(-1)], [1, atMs])
  follower?.stop()
})

test('feed-following/2: recheck asks about every follower once within 2 s', async (t) => {
  const { follow, following, time, asked } = startFollowing()
  const several = Array.from({ length: 10 }, () => follow(undefined, [A, A]))
  following.recheck()
  time.advance(999)
  await turn()
  t.is(asked.length, 5)
  time.advance(1_001)
  await turn()
  t.is(asked.length, several.length)
})
