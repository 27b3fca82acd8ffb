// Method: two processes of one database, each with numbers of its own.

import test from 'ava'

import { UpdateNumbers } from '#src/store/turns/update-numbers'
import { emptyFile } from '#test/support/sqlite-store'
import { openWatched } from '#test/support/watched-store'

const RANGE = 32_768

test('update-numbers/1: no two updates get the same number, whoever asks and however many at once', async (t) => {
  const { database } = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const both = [new UpdateNumbers(database), new UpdateNumbers(database)]
  const taken: (readonly [first: number, count: number])[] = []
  for (const count of [1, 2_048, RANGE - 1, RANGE, RANGE + 1, 0, 5, 3 * RANGE]) {
    for (const numbers of both) taken.push([await numbers.take(count), count])
  }
  const inOrder = taken.filter(([, count]) => count > 0).toSorted(([a], [b]) => a - b)
  for (const [at, [first]] of inOrder.entries()) {
    const [before = 0, count = 0] = inOrder[at - 1] ?? []
    t.true(first >= before + count, `${first} behind ${before} + ${count}`)
  }
})

test('update-numbers/2: an owner that has taken a lane gets greater numbers than the one before it used', async (t) => {
  const { database } = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const [one, other] = [new UpdateNumbers(database), new UpdateNumbers(database)]
  await one.take(10)
  await other.take(10)
  const last = (await other.take(10)) + 10
  one.renew()
  t.true((await one.take(10)) >= last)
  // Also when a range is on its way, which the one before it could overtake.
  one.renew()
  const taken = one.take(10)
  one.renew()
  const [first, of] = await Promise.all([taken, other.take(RANGE)])
  t.true(first > of)
})
