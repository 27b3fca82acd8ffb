// Rules of a cluster's channels, and what must have come of them after a disaster.

import type { ExecutionContext } from 'ava'

import type { ChannelId } from '#domain/identity'
import { createClient } from '#src/client/client'
import { throughEveryLane } from '#test/support/cluster'
import { createChannels, PASSWORD } from '#test/support/device'
import { until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'

const S = 1_000
const WATCHED = 4
/** Long for a failover or a start on a busy machine, and far less than a stop of ten minutes. */
const LATE_MAX = 60 * S

/** A channel with a reading for whose time a rule waits. */
export interface Watched {
  readonly channel_id: ChannelId
  /** The time at which the rule's `for` ends. */
  readonly due: number
}

/** Makes channels over most lanes, each with a rule and its first reading that holds. */
export async function readingsUnderRules(
  gateway: Gateway,
  seconds: number,
): Promise<readonly Watched[]> {
  const channels = await createChannels(gateway, WATCHED)
  const { rule, thing } = createClient(gateway)
  const when = { attr: 't', above: 30 }
  const hot = { things: 'all', when, for: `${seconds}s`, event: { title: 'hot' } }
  for (const channel_id of channels) {
    await rule.put({ channel_id, password: PASSWORD, rule_id: 'hot', rule: hot })
  }
  return Promise.all(
    channels.map(async (channel_id) => {
      const observed_at = Date.now()
      const reading = { thing_id: 'a', observed_at, attrs: { t: 31 } }
      await thing.update({ channel_id, password: PASSWORD, ...reading })
      return { channel_id, due: observed_at + seconds * S }
    }),
  )
}

/**
 * Checks that each rule has fired once, with the time at which it was due, and not long after that
 * or after the time at which somebody could see to it. (R1, R3, R8)
 */
export async function firedOnce(
  t: ExecutionContext,
  { gateway, watched, sinceMs }: { gateway: Gateway; watched: readonly Watched[]; sinceMs: number },
): Promise<void> {
  const { event } = createClient(gateway)
  const eventsOf = async ({ channel_id }: Watched) =>
    (await event.list({ channel_id, password: PASSWORD })).items
  const all = () => Promise.all(watched.map(eventsOf))
  await until(all, (lists) => lists.every(({ length }) => length > 0))
  await throughEveryLane(
    gateway,
    watched.map(({ channel_id }) => channel_id),
  ) // What would come twice is there by then.
  const found = await all()
  t.deepEqual(
    found.map((events) => events.map(({ event_time }) => event_time)),
    watched.map(({ due }) => [due]),
  )
  const late = found.map(
    ([one], index) => (one?.changed_at ?? 0) - Math.max(watched[index]?.due ?? 0, sinceMs),
  )
  t.log(`rules fired ${late.join(', ')} ms after their time, or after that of the failover`)
  t.true(Math.max(...late) < LATE_MAX, late.join(', '))
}
