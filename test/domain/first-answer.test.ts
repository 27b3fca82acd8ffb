import test from 'ava'

import { FIRST_ANSWER_MS_MAX, firstAnswer } from '#domain/first-answer'
import { FakeLogger } from '#test/support/fake-telemetry'
import { FakeTime } from '#test/support/fake-timers'

const FATAL = 'wrong password'

/** Something that fails with these reasons, one an attempt, and answers from then on. */
function start(reasons: readonly string[]) {
  const logger = new FakeLogger()
  const time = new FakeTime(0)
  const attemptedAt: number[] = []
  const attempt = async (): Promise<string> => {
    const reason = reasons[attemptedAt.length]
    attemptedAt.push(time.nowMs())
    if (reason !== undefined) throw new Error(reason)
    return 'here'
  }
  const answer = firstAnswer(attempt, {
    fact: 'it does not answer',
    mayPass: (error) => error instanceof Error && error.message !== FATAL,
    reasonOf: (error) => (error instanceof Error ? error.message : ''),
    logger,
    after: (delayMs, callback) => time.after(delayMs, callback),
  })
  answer.catch(() => {})
  const wait = async (forMs: number): Promise<void> => {
    for (let passed = 0; passed < forMs; passed += 250) {
      await new Promise<void>((resolve) => setImmediate(resolve))
      time.advance(250)
    }
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return { answer, wait, logger, attemptedAt, time }
}

test('first-answer/2: a dependency that is away is waited for, with a line for each growing pause', async (t) => {
  const { answer, wait, logger, attemptedAt, time } = start(['away', 'away', 'starting'])
  await wait(5_000)
  t.is(await answer, 'here')
  t.deepEqual(attemptedAt, [0, 250, 750, 1_750])
  t.deepEqual(
    logger.lines.map(({ level, fields }) => [level, fields['reason'], fields['againInMs']]),
    [
      ['warn', 'away', 250],
      ['warn', 'away', 500],
      ['warn', 'starting', 1_000],
    ],
  )
  t.is(time.waiting, 0)
})

test('first-answer/2: waiting has an end, and pauses do not grow beyond it', async (t) => {
  const { answer, wait, attemptedAt, logger } = start(Array<string>(99).fill('away'))
  await wait(2 * FIRST_ANSWER_MS_MAX)
  await t.throwsAsync(answer, { message: 'away' })
  const last = attemptedAt.at(-1) ?? 0
  t.true(last >= FIRST_ANSWER_MS_MAX && last <= FIRST_ANSWER_MS_MAX + 8_000, `${last}`)
  t.true(logger.lines.length <= 12)
})

test('first-answer/1: a failure that waiting cannot end stops at once', async (t) => {
  const { answer, attemptedAt, logger } = start([FATAL])
  await t.throwsAsync(answer, { message: FATAL })
  t.deepEqual(attemptedAt, [0])
  t.deepEqual(logger.lines, [])
})
