// Publishes of devices in tests: what one becomes, in a form that a row can hold.

import { isFault } from '#domain/fault'
import { NO_STATE } from '#src/mqtt/devices/family-state'
import type { Mapping } from '#src/mqtt/devices/mapping'
import type { Connection, Publish, Wish } from '#src/mqtt/devices/publish'
import { translate } from '#src/mqtt/devices/translate'

/** 2 March 2026, the time at which every publish of these tests arrives. */
export const ARRIVED = 1_772_409_600_000

export type Payload = string | Uint8Array | object

export const bytesOf = (payload: Payload): Uint8Array =>
  payload instanceof Uint8Array
    ? payload
    : Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload))

export const publishOf = (topic: string, payload: Payload): Publish => ({
  topic,
  payload: bytesOf(payload),
  receivedAtMs: ARRIVED,
})

/** A new connection of a client whose own Thing is `client-1`. */
export const connectionOf = (mappings: readonly Mapping[] = []): Connection => ({
  sender: { thingId: 'client-1', mappings },
  state: NO_STATE,
})

/**
 * A submission as a row has it: model, action and id, then its fields; `at` where its time is not
 * that of arrival.
 */
export function rowOf({ intent, fields, repeatKey }: Wish): object {
  const { thing_id, event_id, observed_at, event_time, occurred_at, ...rest } = fields
  const time = observed_at ?? event_time ?? occurred_at
  const at = time === ARRIVED || time === undefined ? {} : { at: time }
  const key = repeatKey === undefined ? {} : { key: repeatKey }
  if (intent.model === 'thing') return { [intent.action]: thing_id, ...rest, ...at, ...key }
  const about = thing_id === undefined ? {} : { thing: thing_id }
  if (intent.model === 'message')
    return { message: rest['title'], ...rest, ...about, ...at, ...key }
  const id = 'eventId' in intent ? intent.eventId : event_id
  return { [`event ${intent.action}`]: id, ...rest, ...about, ...at, ...key }
}

/** What publishes over one connection become: rows of the last one, a refusal's field, or nothing. */
export function outcomeOf(
  publishes: readonly (readonly [topic: string, payload: Payload])[],
  connection: Connection = connectionOf(),
): readonly object[] | string {
  let state = connection.state
  let rows: readonly object[] | string = 'nothing takes the topic'
  for (const [topic, payload] of publishes) {
    const outcome = translate(publishOf(topic, payload), { ...connection, state })
    if (outcome === undefined) rows = 'nothing takes the topic'
    else if (isFault(outcome)) rows = `${outcome.code} ${outcome.field}`
    else ({ state, rows } = { state: outcome.state, rows: outcome.wishes.map(rowOf) })
  }
  return rows
}
