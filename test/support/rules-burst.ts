// A channel that sets all of its rules off with each of many updates, and another one beside it.

import { createClient } from '#src/client/client'
import type { ChannelId } from '#domain/identity'
import { credentialsOf, makeKeys } from '#test/support/device'
import { figureOf, until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'

const RULES = 500
const AT_ONCE = 50
const TOGGLES = 200
/** Firings of all these updates. */
export const FIRINGS = RULES * TOGGLES
const OTHERS = 3

interface Nodes {
  /** The node that takes every submission. */
  readonly accepting: Gateway
  /** The node that owns the lanes. */
  readonly applying: Gateway
}

/**
 * Sends updates of the greedy channel, each of which opens or closes an Event of every rule, and
 * after them some of the other channel. Gives how many firings came between the sending of each of
 * these and the answer that it is applied. Most updates of the greedy channel still wait then.
 */
export async function firingsBeforeOthers(
  { accepting, applying }: Nodes,
  [greedy, other]: readonly [ChannelId, ChannelId],
): Promise<readonly number[]> {
  const { rule, thing, status } = createClient(accepting)
  await makeKeys(accepting, [greedy, other])
  const when = { attr: 'on', equals: true }
  for (let first = 0; first < RULES; first += AT_ONCE) {
    const puts = Array.from({ length: AT_ONCE }, (_, each) =>
      rule.put({
        ...credentialsOf(greedy),
        rule_id: `r${first + each}`,
        rule: { things: 'all', when, event: { title: 'on' } },
      }),
    )
    await Promise.all(puts)
  }
  const update = (
    channel: ChannelId,
    at: number,
    attrs: Readonly<Record<string, boolean | number>>,
  ) => thing.update({ ...credentialsOf(channel), thing_id: 'a', observed_at: at, attrs })
  const startMs = Date.now()
  const over = new AbortController()
  /** Sends one after the other, so that many wait however fast they are applied. */
  const toggle = async (first: number): Promise<void> => {
    for (let each = first; !over.signal.aborted; each += TOGGLES) {
      await update(greedy, startMs + each, { on: each % 2 === 0 }).catch(() => {})
    }
  }
  for (let each = 0; each < TOGGLES; each += 1) void toggle(each)
  const waiting = () => figureOf(accepting, 'heliograph_channel_waiting_submissions')
  await until(waiting, (count) => count > TOGGLES / 2)
  const fired = () => figureOf(applying, 'heliograph_rule_firings_total')
  const counts: number[] = []
  for (let each = 0; each < OTHERS; each += 1) {
    const before = await fired()
    const { op_id } = await update(other, startMs + each, { each })
    await until(
      () => status(op_id),
      (operation) => operation.status === 'sent',
    )
    counts.push((await fired()) - before)
  }
  over.abort()
  return counts
}
