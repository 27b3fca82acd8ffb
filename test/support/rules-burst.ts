// A channel that sets all of its rules off with each of many updates, and another one beside it.

import { createClient } from '#src/client/client'
import type { Client } from '#src/client/client'
import type { ChannelId } from '#domain/identity'
import { credentialsOf, makeKeys } from '#test/support/device'
import { figureOf, until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import { drive, sender } from '#test/support/load'
import type { Submission } from '#test/support/load'

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
  const client = createClient(accepting)
  await makeKeys(accepting, [greedy, other])
  await putRules(client, greedy)
  const fired = () => figureOf(applying, 'heliograph_rule_firings_total')
  const waiting = () => figureOf(accepting, 'heliograph_channel_waiting_submissions')
  const toggling = toggles(accepting, greedy)
  try {
    await until(waiting, (count) => count > TOGGLES / 2)
    const counts: number[] = []
    for (let each = 0; each < OTHERS; each += 1) {
      const before = await fired()
      const update = { ...credentialsOf(other), thing_id: 'a', observed_at: Date.now() }
      const { op_id } = await client.thing.update({ ...update, attrs: { each } })
      await until(
        () => client.status(op_id),
        (operation) => operation.status === 'sent',
      )
      counts.push((await fired()) - before)
    }
    return counts
  } finally {
    await toggling.end()
  }
}

async function putRules(client: Client, channel: ChannelId): Promise<void> {
  const rule = {
    things: 'all' as const,
    when: { attr: 'on', equals: true },
    event: { title: 'on' },
  }
  for (let first = 0; first < RULES; first += AT_ONCE) {
    const puts = Array.from({ length: AT_ONCE }, (_, each) =>
      client.rule.put({ ...credentialsOf(channel), rule_id: `r${first + each}`, rule }),
    )
    await Promise.all(puts)
  }
}

/** Sends updates until it is ended: many wait, however fast they are applied. */
function toggles(gateway: Gateway, channel: ChannelId): { end(): Promise<void> } {
  const submitting = sender(gateway.baseUrl, gateway.token, TOGGLES)
  const startMs = Date.now()
  let sent = 0
  let isOver = false
  const next = (): Submission | undefined => {
    if (isOver) return undefined
    sent += 1
    const attrs = { on: sent % 2 === 0 }
    const body = { ...credentialsOf(channel), thing_id: 'a', observed_at: startMs + sent, attrs }
    return { path: '/thing/update', body }
  }
  const driven = drive(submitting, TOGGLES, next)
  return {
    end: async () => {
      isOver = true
      await driven
      submitting.close()
    },
  }
}
