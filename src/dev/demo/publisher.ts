// Publishes the changes of readings.
//
// Invariants:
//   publisher/1. The publisher does not send a reading that equals the last one: the gateway would
//     deliver nothing for it.
//   publisher/2. The publisher sends a Thing whose last request failed whole the next time, so that
//     no change is lost.
//   publisher/3. The publisher archives a Thing once when its readings end (a process ended,
//     a disk was unmounted).

import type { Client } from '#src/client/client'
import type { Reading } from './readings.ts'
import type { Credentials } from '#src/cli/access'
import type { Fields, Json } from '#domain/submission'
import { bare } from '#domain/record'
import type { Sender } from './sender.ts'

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
export function changeBetween(before: Reading | undefined, after: Reading): Change | undefined {
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
