import test from 'ava'

import { Batches } from '#src/providers/fcm/batches'
import { turn } from '#test/support/until'

for (const [messages, sizes] of [
  [3, [1, 1, 1]],
  [100, [25, 25, 25, 25]],
  [2_100, [500, 500, 500, 500, 100]],
] as const) {
  test(`batches/1: of ${messages} messages at once at most four batches of 500 are in flight`, async (t) => {
    const sent: number[] = []
    const waiting: (() => void)[] = []
    const batches = new Batches<number, number>({
      soon: setImmediate,
      sendAll: async (some) => {
        sent.push(some.length)
        await new Promise<void>((resolve) => waiting.push(resolve))
        return some
      },
    })
    const numbers = Array.from({ length: messages }, (_, index) => index)
    const answers = Promise.all(numbers.map((number) => batches.send(number)))
    await turn()
    await turn()
    t.deepEqual(sent, sizes.slice(0, 4))
    for (let rounds = 0; rounds < 4; rounds += 1) {
      for (const answer of waiting.splice(0)) answer()
      await turn()
    }
    t.deepEqual(await answers, numbers)
    t.deepEqual(sent, sizes)
  })
}
