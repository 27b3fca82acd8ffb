// Goal: a subscriber of the topic style may follow several channels together.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { PATH_KEY, WRONG_PATH_KEY } from '#test/support/compatibility-rig'
import { CHANNEL } from '#test/support/making'
import { addChannel } from '#test/support/start-ingress'
import type { RigOptions } from '#test/support/start-ingress'
import {
  Subscriber,
  linesOf,
  messageOf,
  publish,
  read,
  startTopics,
  titles,
} from '#test/support/topic-subscribers'
import { until } from '#test/support/until'

const OTHER = '3GJ8R2Z6WQ9XKM5T7YB1NC4HDG'
const OTHER_PASSWORD = 'one, two and three'

/** Messages of two channels, whose times alternate. */
async function startTwo(t: ExecutionContext, options: RigOptions = {}) {
  const rig = await startTopics(t, options)
  const other = await addChannel(rig.channels, OTHER, OTHER_PASSWORD)
  rig.reads.entries.push(
    { ...messageOf(rig, 1, { title: 'O1' }, other), acceptedAt: rig.time.nowMs() - 510_000 },
    { ...messageOf(rig, 2, { title: 'O2' }, other), acceptedAt: rig.time.nowMs() - 60_000 },
  )
  return { rig, other, both: `${PATH_KEY},${OTHER}:${encodeURIComponent(OTHER_PASSWORD)}` }
}

test('several keys with commas are read together, in the order of their times', async (t) => {
  const { rig, both } = await startTwo(t)
  const { text } = await read(rig, `/compat-topic/${both}/json?poll=1`)
  t.deepEqual(titles(text), ['T1', 'O1', 'T2', 'T3', 'O2'])
  const [first, second] = linesOf(text)
  t.is(first?.['topic'], `${CHANNEL}:***`)
  t.is(second?.['topic'], `${OTHER}:***`)
  const latest = await read(rig, `/compat-topic/${both}/json?poll=1&since=latest`)
  t.deepEqual(titles(latest.text), ['T3', 'O2'])
})

test('a subscriber of several channels hears of each, and leaves all', async (t) => {
  const { rig, other, both } = await startTwo(t)
  const subscriber = new Subscriber(t, rig, `/compat-topic/${both}/ws`)
  await subscriber.until(1)
  t.is(subscriber.frames[0]?.['topic'], `${CHANNEL}:***,${OTHER}:***`)
  t.is(rig.meter.gauges.get('feed_streams')?.(), 2)
  for (const [seq, title, channelId] of [
    [8, 'O8', other],
    [8, 'T8', rig.channelId],
  ] as const) {
    publish(rig, seq, { title }, channelId)
    await until(title, () => subscriber.titles().includes(title))
  }
  t.deepEqual(subscriber.titles(), ['O8', 'T8'])
  subscriber.socket.close()
  await until('nobody listens', () => rig.bus.listening(other) === 0)
  t.is(rig.meter.gauges.get('feed_streams')?.(), 0)
})

test('one wrong key of several refuses them all, and each counts in the password budget', async (t) => {
  const { rig, both } = await startTwo(t)
  const wrong = await read(rig, `/compat-topic/${both},${WRONG_PATH_KEY}/json?poll=1`)
  t.like(JSON.parse(wrong.text), { code: 40401 })
  t.deepEqual((await rig.get(`/compat-topic/${both}/auth`)).json, { success: true })
  const many = Array<string>(51).fill(PATH_KEY).join(',')
  t.like((await rig.get(`/compat-topic/${many}/json?poll=1`)).json, { http: 400, code: 40009 })
  const poor = await startTwo(t, { passwordBudget: { perAddress: 1, total: 100 } })
  const refused = await poor.rig.get(`/compat-topic/${poor.both}/json?poll=1`)
  t.like(refused.json, { http: 429, code: 42901 })
})
