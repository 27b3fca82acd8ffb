// Goal: the waiting submissions of a parked channel have a bound.

import test from 'ava'

import { PARKED_SUBMISSIONS_MAX, ParkedChannels } from '#actors/parked-channels'
import type { Item } from '#actors/turn-item'
import { placeOf } from '#domain/lane'
import { channel, message } from '#test/support/submissions'

const itemOf = (number: number): Item => ({
  lane: 0,
  position: 1,
  index: 0,
  placeAfter: placeOf(1, 0),
  submission: message({ channelId: channel(number) }),
})

test('W7, parked/4: the waiting submissions of a channel are bounded; further ones are set aside', (t) => {
  for (const [waiting, isParked] of [
    [PARKED_SUBMISSIONS_MAX - 1, [true, false]],
    [PARKED_SUBMISSIONS_MAX, [false, false]],
  ] as const) {
    const channels = new ParkedChannels()
    channels.know(0, new Map([[channel(1), waiting]]), 0)
    const items = [itemOf(1), itemOf(2), itemOf(1)]
    const aside = channels.aside(items)
    t.deepEqual(
      [aside?.parked.has(items[0] ?? itemOf(1)), aside?.parked.has(items[2] ?? itemOf(1))],
      isParked,
    )
    t.is((aside?.parked.size ?? 0) + (aside?.poisoned.size ?? 0), 2)
  }
})
