// The document of a Thing or an Event: its row holds it as text, and a query reads it.
//
// A document holds every value, but times only for values that the newest reading did not set: it
// set most of them, and a time for each would be half of what a turn writes.

import type { Entity, Event, Thing, ThingState, TimedFields, Times } from '#domain/entity'
import { bare, isRecord } from '#domain/record'
import type { Fields, Json } from '#domain/submission'

/** An entity with what an Event has of its own. */
export type Kept<State extends string = string> = Entity<State> & Pick<Event, 'attention'>

/** The document of an entity; its other members are columns. */
export function documentOf({ rev, stateAt, at, changedAt, heardAt, ...body }: Kept): string {
  const { fields, attrs, externalIds, attention } = body
  return JSON.stringify({
    rev,
    stateAt,
    at,
    changedAt,
    heardAt,
    attention,
    fields: fields.values,
    attrs: attrs.values,
    externalIds: externalIds.values,
    times: { fields: fields.times, attrs: attrs.times, externalIds: externalIds.times },
  })
}

/** An entity with its document as text. */
export interface Stored<State extends string = string> {
  readonly id: string
  readonly state: State
  readonly seq: number
  readonly document: string
}

/** A Thing with its document as text. */
export type StoredThing = Stored<ThingState>

/** What a query asks about: the values of a Thing without their times. */
export interface SeenThing extends Pick<Thing, 'id' | 'state' | 'seq' | 'changedAt' | 'heardAt'> {
  readonly fields: Fields
  readonly attrs: Fields
}

/** The entity of a document; undefined when the document is damaged. */
export const entityIn = <State extends string>(stored: Stored<State>): Kept<State> | undefined =>
  unlessDamaged(() => wholeIn(stored))

/** The same without what a query does not ask about, which takes a third of the time. */
export const seenIn = (stored: StoredThing): SeenThing | undefined =>
  unlessDamaged(() => {
    const { id, state, seq, document } = stored
    const parsed: unknown = JSON.parse(document)
    if (!isRecord(parsed)) throw new Damaged()
    const heardAt = parsed['heardAt'] === undefined ? {} : { heardAt: numberIn(parsed, 'heardAt') }
    const fields = recordIn(parsed, 'fields') as Fields
    const attrs = recordIn(parsed, 'attrs') as Fields
    return { id, state, seq, changedAt: numberIn(parsed, 'changedAt'), ...heardAt, fields, attrs }
  })

class Damaged extends Error {}

function unlessDamaged<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Damaged) return undefined
    throw error
  }
}

function wholeIn<State extends string>({ id, state, seq, document }: Stored<State>): Kept<State> {
  const parsed: unknown = JSON.parse(document)
  if (!isRecord(parsed)) throw new Damaged()
  const times = recordIn(parsed, 'times')
  const timed = (part: 'fields' | 'attrs' | 'externalIds'): TimedFields =>
    timedFrom(recordIn(parsed, part), times[part])
  return {
    id,
    state,
    seq,
    rev: numberIn(parsed, 'rev'),
    stateAt: numberIn(parsed, 'stateAt'),
    at: numberIn(parsed, 'at'),
    changedAt: numberIn(parsed, 'changedAt'),
    ...(parsed['heardAt'] !== undefined && { heardAt: numberIn(parsed, 'heardAt') }),
    ...(parsed['attention'] !== undefined && { attention: recordIn(parsed, 'attention') }),
    fields: timed('fields'),
    attrs: timed('attrs'),
    externalIds: timed('externalIds'),
  }
}

type Parsed = { readonly [name: string]: unknown }

function numberIn(parsed: Parsed, name: string): number {
  const value = parsed[name]
  if (typeof value !== 'number') throw new Damaged()
  return value
}

function recordIn(parsed: Parsed, name: string): Parsed {
  const value = parsed[name]
  if (!isRecord(value)) throw new Damaged()
  return value
}

/**
 * Named values with their times, without a prototype: `__proto__` among the names is plain data.
 */
function timedFrom(values: Parsed, times: unknown): TimedFields {
  return {
    values: Object.assign(bare<Json>(), values),
    times: times === undefined ? times : timesFrom(times),
  }
}

function timesFrom(parsed: unknown): Times {
  if (!isRecord(parsed)) throw new Damaged()
  const times = bare<number>()
  for (const name of Object.keys(parsed)) times[name] = numberIn(parsed, name)
  return times
}
