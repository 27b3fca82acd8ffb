// Publishes the changes of readings.
//
// Invariants:
//   publisher/1. The publisher does not send a reading that equals the last one: the gateway would
//     deliver nothing for it.
//   publisher/2. The publisher sends a Thing whose last request failed whole the next time, so that
//     no change is lost.
//   publisher/3. The publisher archives a Thing once when its readings end (a process ended,
//     a disk was unmounted).

import type { RuleBody } from '#src/client/bodies'
import type { Client } from '#src/client/client'
import { HeliographError } from '#src/client/error'
import type { Reading } from './readings.ts'
import type { Credentials } from '#src/cli/access'
import type { Fields, Json } from '#domain/submission'
import { bare } from '#domain/record'
import type { Tally } from './tally.ts'

// Sends submissions, and counts each with its time in the tally.

export class Sender {
  readonly #tally: Tally
  readonly #monotonicMs: () => number

  constructor(tally: Tally, monotonicMs: () => number) {
    this.#tally = tally
    this.#monotonicMs = monotonicMs
  }

  /** Returns the gateway's answer; undefined for a refusal, which it counts in the tally. */
  async send<Accepted extends { readonly op_id: string }>(
    submit: () => Promise<Accepted>,
  ): Promise<Accepted | undefined> {
    const sentAtMs = this.#monotonicMs()
    try {
      const accepted = await submit()
      this.#tally.accepted(accepted.op_id, sentAtMs)
      return accepted
    } catch (error) {
      if (!(error instanceof HeliographError)) throw error
      this.#tally.refused(error.code)
      return undefined
    }
  }
}

export interface PublisherPorts {
  readonly client: Pick<Client, 'thing'>
  readonly credentials: Credentials
  readonly sender: Sender
  readonly nowMs: () => number
}

export class Publisher {
  readonly #ports: PublisherPorts
  readonly #last = new Map<string, Reading>()

  constructor(ports: PublisherPorts) {
    this.#ports = ports
  }

  /** Sends all changes of one moment at once; resolves when the gateway has answered each. */
  async publish(readings: readonly Reading[]): Promise<void> {
    const present = new Set(readings.map(({ thingId }) => thingId))
    const gone = [...this.#last.keys()].filter((thingId) => !present.has(thingId))
    await Promise.all([
      ...readings.map((reading) => this.#update(reading)),
      ...gone.map((thingId) => this.#archive(thingId)),
    ])
  }

  async #update(reading: Reading): Promise<void> {
    const { client, credentials, sender, nowMs } = this.#ports
    const last = this.#last.get(reading.thingId)
    const change = changeBetween(last, reading)
    if (change === undefined) return // publisher/1
    const body = {
      ...credentials,
      ...change,
      thing_id: reading.thingId,
      observed_at: nowMs(),
    }
    const taken = await sender.send(() => client.thing.update(body))
    // An empty Thing: the next call sends it whole, or archives it. (publisher/2)
    const unknown = { thingId: reading.thingId, title: '', attrs: {} }
    this.#last.set(reading.thingId, taken === undefined ? unknown : reading)
  }

  async #archive(thingId: string): Promise<void> {
    const { client, credentials, sender, nowMs } = this.#ports
    const body = { ...credentials, thing_id: thingId, observed_at: nowMs() }
    const isArchived = await sender.send(() => client.thing.archive(body))
    if (isArchived) this.#last.delete(thingId) // publisher/3
  }
}

interface Change {
  readonly title?: string
  readonly attrs?: Fields
}

/** The change that a reader of the Thing would see; undefined for none. */
function changeBetween(before: Reading | undefined, after: Reading): Change | undefined {
  const attrs = bare<Json>()
  for (const [key, value] of Object.entries(after.attrs)) {
    if (before?.attrs[key] !== value) attrs[key] = value
  }
  for (const key of Object.keys(before?.attrs ?? {})) {
    if (!(key in after.attrs)) attrs[key] = null
  }
  const title = before?.title === after.title ? undefined : after.title
  const hasAttrs = Object.keys(attrs).length > 0
  if (title === undefined && !hasAttrs) return undefined
  return { ...(title !== undefined && { title }), ...(hasAttrs && { attrs }) }
}

// The rules by which the demo's channel watches its computer.

/**
 * A load above the threshold, in percent of all processors, is high until it falls below four
 * fifths of that: a value that swings around the threshold is one Event, not many.
 */
export const demoRules = (threshold: number): Readonly<Record<string, RuleBody>> => ({
  'load-is-high': {
    things: { ids: ['host'] },
    when: { attr: 'cpu_percent', above: threshold },
    // A program that starts takes every processor for a moment.
    for: '3s',
    clear: { attr: 'cpu_percent', below: threshold * 0.8 },
    event: {
      title: 'load is high',
      message: '{cpu_percent} % of all processors',
      severity: 'high',
      update_every: '2s',
    },
  },
  'disk-is-full': {
    things: { prefix: 'disk:' },
    when: { attr: 'used_percent', above: 95 },
    clear: { attr: 'used_percent', below: 90 },
    event: { title: '{thing.title} is nearly full', message: '{used_percent} %' },
  },
  'computer-is-silent': {
    things: { ids: ['host'] },
    when: { silent: '10s' },
    event: { title: '{thing.title} is silent', severity: 'critical' },
  },
})
