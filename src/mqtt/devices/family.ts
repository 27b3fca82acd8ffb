// A family of devices is a table of rows: topics of one form, and how their payloads are read.

import { isFault } from '#domain/fault'
import type { Discovered } from '#domain/history/presentation'
import type { Answer } from '#domain/ports'
import { readPayloadJson, readPayloadObject, readPayloadText } from './payload.ts'
import { readScalar, readScalarOrObject } from './payload.ts'
import type { JsonObject, Scalar } from './payload.ts'
import type { Connection, Forget, Publish, Reply, Wish } from './publish.ts'
import { compilePattern } from '#src/schemas/mappings/topic-pattern'
import type { Levels } from '#src/schemas/mappings/topic-pattern'

/** What a row reads. */
export interface Received extends Publish, Connection {
  /** All levels of the topic. */
  readonly topicLevels: readonly string[]
  /** Those that the row's pattern names. */
  readonly levels: Levels
  /** Reads another publish by the same tables, as one of a new connection. */
  readonly readOther: (topic: string, payload: Uint8Array) => Answer<Read> | undefined
}

/** What a row reads from a publish. */
export interface Read {
  readonly wishes?: readonly Wish[]
  readonly replies?: readonly Reply[]
  /** How the device says that attrs are shown. */
  readonly discovered?: Discovered
  /**
   * Changes the state of the connection, once the publish is known to be within the bounds; returns
   * what takes that back, where it has added something.
   */
  readonly learn?: () => Forget | undefined
}

/** Reads one publish; undefined when the topic has the form of the row by chance only. */
export type Reader = (received: Received) => Answer<Read> | undefined

export interface Row {
  /** A pattern. (compilePattern) */
  readonly topic: string
  readonly where?: Readonly<Record<string, string>>
  readonly read: Reader
}

/** The level of a topic that the row's pattern names. */
export const level = ({ levels }: Received, name: string): string => levels[name] ?? ''

type Then<Value> = (value: Value, received: Received) => Answer<Read> | undefined

/** Nothing is kept of such a publish. */
export const nothing: Reader = () => ({})

const reading =
  <Value>(parse: (payload: Uint8Array) => Answer<Value>) =>
  (then: Then<Value>): Reader =>
  (received) => {
    const value = parse(received.payload)
    return isFault(value) ? value : then(value, received)
  }

/** A reader of JSON payloads. */
export const json = reading<unknown>(readPayloadJson)
/** A reader of text payloads. */
export const text = reading<string>(readPayloadText)
/** A reader of payloads that are one value. */
export const scalar = reading(readScalar)

/** A reader of payloads that are one value or a JSON object; an empty one says nothing. */
export const value = (then: Then<Scalar | JsonObject>): Reader => {
  const read = reading<Scalar | JsonObject>(readScalarOrObject)(then)
  return (received) => (received.payload.length === 0 ? {} : read(received))
}

/** A reader of JSON objects; an empty payload, which takes a retained one back, says nothing. */
export const object = (then: Then<JsonObject>): Reader => {
  const read = reading<JsonObject>(readPayloadObject)(then)
  return (received) => (received.payload.length === 0 ? {} : read(received))
}

/**
 * Makes one reader of a table: the first row that takes a publish reads it. Undefined when none
 * does. Throws for a pattern that is none.
 */
export function tableOf(rows: readonly Row[]): Reader {
  const compiled = rows.map(({ topic, where, read }) => {
    const pattern = compilePattern(topic, where)
    if (pattern === undefined) throw new TypeError(`${topic} is no topic pattern`)
    return { pattern, read }
  })
  const byFirst = Map.groupBy(compiled, ({ pattern }) => pattern.first)
  const others = byFirst.get(undefined) ?? []
  return (received) => {
    const [first = ''] = received.topicLevels
    for (const candidates of [byFirst.get(first) ?? [], others]) {
      for (const { pattern, read } of candidates) {
        const levels = pattern.match(received.topicLevels)
        const outcome = levels && read({ ...received, levels })
        if (outcome !== undefined) return outcome
      }
    }
    return undefined
  }
}
