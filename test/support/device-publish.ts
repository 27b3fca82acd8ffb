// Publishes of devices in tests: what one becomes, in a form that a row can hold.

import test from 'ava'

import { isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { FamilyState, StateBudget } from '#src/mqtt/devices/family-state'
import { readMappings } from '#src/schemas/mappings/mapping'
import type { Mapping } from '#src/schemas/mappings/mapping'
import type { Connection, Publish, Wish } from '#src/mqtt/devices/publish'
import { translate } from '#src/mqtt/devices/translate'
import { readAcknowledge, readEvent, readNamedEvent } from '#src/schemas/event'
import { readMessage } from '#src/schemas/message'
import { readThing } from '#src/schemas/thing'

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

export const STATE_BOUNDS = { perState: 4 * 2 ** 20, total: 128 * 2 ** 20 }

/** An object of many members of one value. */
export const objectOf = (
  count: number,
  nameOf: (index: number) => string,
  value: unknown,
): object => Object.fromEntries(Array.from({ length: count }, (_, index) => [nameOf(index), value]))

/** The mappings of these fields. */
export function mapped(sent: readonly object[]): readonly Mapping[] {
  const mappings = readMappings(sent)
  if (isFault(mappings)) throw new Error(mappings.detail)
  return mappings
}

/** A new connection of a client whose own Thing is `client-1`. */
export const connectionOf = (mappings: readonly Mapping[] = []): Connection => ({
  sender: { thingId: 'client-1', mappings, key: undefined },
  state: new FamilyState(new StateBudget(STATE_BOUNDS, () => undefined)),
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

const MAKING = { nowMs: ARRIVED, newHex32: () => '0'.repeat(32) }
const CREDENTIALS = { channel_id: '0'.repeat(26), password: 'a password' }

/** The submission that acceptance reads from a wish, or its refusal. */
function readWish({ intent, fields }: Wish): unknown {
  const sent = { ...fields, ...CREDENTIALS }
  if (intent.model === 'message') return readMessage(sent, MAKING)
  if (intent.model === 'thing') return readThing(intent.action, sent, MAKING)
  if (intent.action === 'acknowledge') return readAcknowledge(sent, MAKING)
  return 'eventId' in intent
    ? readNamedEvent(intent.eventId, sent, MAKING)
    : readEvent(intent.action, sent, MAKING)
}

/** The first refusal by acceptance of what a publish became. */
export const refusalOf = (wishes: readonly Wish[]): Fault | undefined =>
  wishes.map(readWish).find((read) => isFault(read))

/** What publishes over one connection become: rows of the last one, a refusal's field, or nothing. */
export function outcomeOf(
  publishes: readonly (readonly [topic: string, payload: Payload])[],
  connection: Connection = connectionOf(),
): readonly object[] | string {
  let rows: readonly object[] | string = UNKNOWN
  for (const [topic, payload] of publishes) {
    const outcome = translate(publishOf(topic, payload), connection)
    if (outcome === undefined) rows = UNKNOWN
    else if (isFault(outcome)) rows = `${outcome.code} ${outcome.field}`
    else {
      const refusal = refusalOf(outcome.wishes)
      if (refusal !== undefined) throw new Error(`acceptance refuses ${refusal.field}`)
      rows = outcome.wishes.map(rowOf)
    }
  }
  return rows
}

/** One publish of a new connection, and what it becomes. */
export type PublishRow = readonly [
  topic: string,
  payload: Payload,
  expected: readonly object[] | string,
]

export const REFUSED = 'validation_failed payload'
export const NO_OBJECT = 'invalid_json_data payload'
export const UNKNOWN = 'nothing takes the topic'
/** No text in UTF-8. */
export const NO_BYTES = new Uint8Array([0xff])

/** The row of a Message that interrupts nobody. */
export const note = (thing: string, title: string, more: object): object => ({
  message: title,
  title,
  severity: 'low',
  ...more,
  thing,
})

/** A test for each row. */
export function testEach(rows: readonly PublishRow[]): void {
  for (const [index, [topic, payload, expected]] of rows.entries()) {
    const shown = payload instanceof Uint8Array ? 'bytes' : JSON.stringify(payload).slice(0, 120)
    test(`row ${index + 1}: ${topic} with ${shown}`, (t) => {
      t.deepEqual(outcomeOf([[topic, payload]]), expected)
    })
  }
}
