// The bounds of topics, and the way of a publish to the tables of what it means.
//
// Invariants:
//   topics/1. A topic that means nothing, or is beyond the bounds, is a fault that says why.

import { fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Connection, Publish, Translation } from '#src/mqtt/devices/publish'
import { translate } from '#src/mqtt/devices/translate'

export const TOPIC_BYTES_MAX = 512
const LEVEL_BYTES_MAX = 128
export const LEVELS_MAX = 16

/** The levels of a topic or a filter within the bounds; undefined beyond them. */
export function levelsOf(topic: string): readonly string[] | undefined {
  if (topic === '' || topic.includes('\0')) return undefined
  if (Buffer.byteLength(topic) > TOPIC_BYTES_MAX) return undefined
  const levels = topic.split('/')
  if (levels.length > LEVELS_MAX) return undefined
  return levels.every((level) => Buffer.byteLength(level) <= LEVEL_BYTES_MAX) ? levels : undefined
}

const NO_TOPIC = fault('route_not_found', { field: 'topic', detail: 'this is no topic' })
/** The refusal of a topic that nothing maps. */
export const UNMAPPED = fault('route_not_found', {
  field: 'topic',
  detail: 'nothing maps this topic: /channel/mappings can, and docs/mqtt.md lists those that do',
})

/** Reads a publish; route_not_found for a topic that no table takes. (topics/1) */
export function readPublish(publish: Publish, connection: Connection): Answer<Translation> {
  if (/[+#]/.test(publish.topic) || levelsOf(publish.topic) === undefined) return NO_TOPIC
  return translate(publish, connection) ?? UNMAPPED
}
