// Goal: a channel whose one update sets a thousand rules off gets its share of the lane, counted in
// what follows from its submissions, and alone waits beyond. (W8, following/1)
// Method: an acceptor and the owner of the lane over a log and a store in memory. What stands before
// another channel's submission is counted in entries of the feed, not in time.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { Submission } from '#domain/submission'
import { Acceptor } from '#src/stream/acceptor'
import { FOLLOWING_MAX } from '#src/stream/following'
import { OPTIONS } from '#test/support/acceptor-bench'
import { FakeTime } from '#test/support/fake-timers'
import { ruleOf } from '#test/support/rules'
import { running } from '#test/support/running-system'
import { channel, rule, thing } from '#test/support/submissions'
import { until } from '#test/support/until'

const RULES = 1_000
const ROOM = { rememberedBytesMax: 10 ** 8, cachedBytesMax: 10 ** 9, endedLifeMs: 10 ** 6 }
const SHARES = { shareMax: 256, aloneMax: 1_024, unknownMax: 4 }

const reading = (number: number, channelId = channel(1)): Submission =>
  thing('update', 'a', { at: number, attrs: { t: number % 2 === 0 ? 31 : 1 }, channelId })

/** The owner of a lane, and a node that accepts for it. */
async function lane(t: ExecutionContext) {
  const over = await running(t, ROOM)
  const time = new FakeTime(1_000)
  const { log, bus, meter } = over
  const soon = (task: () => void): void => void setImmediate(task)
  const ports = { log, bus, meter, soon, timers: time, monotonicMs: time.nowMs, callers: () => 9 }
  const acceptor = new Acceptor(ports, { ...OPTIONS, lanes: 1, channelShare: SHARES })
  const accepted = (submission: Submission) => acceptor.accept(submission).then(({ kind }) => kind)
  return { ...over, time, accepted }
}

type Lane = Awaited<ReturnType<typeof lane>>

const putRules = (count = RULES): readonly Submission[] =>
  Array.from({ length: count }, (_, number) => rule('put', `r${number}`, JSON.stringify(ruleOf())))

/** The entries of the feed that stand between the acceptance of a submission and its own. */
async function stoodBefore({ store, accepted }: Lane, submission: Submission): Promise<number> {
  await accepted(submission)
  const before = store.feed.length
  const find = (): number => store.feed.findIndex(({ opId }) => opId === submission.opId)
  await until('the submission is applied', () => find() >= 0)
  return find() - before
}

test('W8: what follows from the submissions of one channel does not stand before those of others', async (t) => {
  const over = await lane(t)
  await Promise.all(putRules().map(over.accepted))
  const toggles = Array.from({ length: 20 }, (_, number) => over.accepted(reading(number)))
  const stood: number[] = []
  for (let each = 0; each < 3; each += 1)
    stood.push(await stoodBefore(over, reading(each, channel(2))))
  t.log(`${stood.join(', ')} entries stood before those of another channel`)
  t.true(Math.max(...stood) <= FOLLOWING_MAX / 2 + RULES)
  t.deepEqual([...new Set(await Promise.all(toggles))], ['accepted'])
})

test('W8: rules that are put and set off at once stand before others for no longer', async (t) => {
  const over = await lane(t)
  await over.accepted(reading(1))
  const sent = [
    ...putRules(300),
    ...Array.from({ length: 200 }, (_, number) => reading(2 + number)),
  ]
  const sending = { isOver: false }
  const all = Promise.all(sent.map(over.accepted)).finally(() => {
    sending.isOver = true
  })
  const stood: number[] = []
  while (!sending.isOver) stood.push(await stoodBefore(over, reading(stood.length, channel(2))))
  t.log(`at most ${Math.max(...stood)} entries stood before those of another channel`)
  t.true(Math.max(...stood) <= FOLLOWING_MAX / 2 + RULES)
  t.deepEqual([...new Set(await all)], ['accepted'])
})
