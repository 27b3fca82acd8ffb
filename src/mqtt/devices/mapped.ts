// Reads publishes by a mapping of the channel.

import { isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { isRecord } from '#domain/record'
import { entityIdOf } from './entity-name.ts'
import type { Read, Received } from './family.ts'
import { PLACE } from '#src/schemas/mappings/mapping'
import type { Mapping } from '#src/schemas/mappings/mapping'
import { flattened, readPayloadText, readScalarOrObject, timeOf, valueAt } from './payload.ts'
import type { Levels } from '#src/schemas/mappings/topic-pattern'
import { attrs, oneAttr, become, textMessage } from './wishes.ts'

function thingOf(template: string, levels: Levels): string {
  const id = template.replace(PLACE, (_place, name: string) => entityIdOf(levels[name] ?? ''))
  return id.length <= 64 ? id : entityIdOf(id)
}

/** Reads a publish by a mapping of the channel whose pattern has its topic. */
export function readMapped(mapping: Mapping, received: Received): Answer<Read> {
  const { prefix = '', kind } = mapping
  const thingId = thingOf(mapping.thing, received.levels)
  if (kind === 'message') return readMappedMessage(thingId, received)
  if (received.payload.length === 0) return become()
  const value = readScalarOrObject(received.payload)
  if (isFault(value)) return value
  if (!isRecord(value)) {
    const name = prefix + received.topic.slice(received.topic.lastIndexOf('/') + 1)
    return become(...attrs(thingId, received.receivedAtMs, oneAttr(name, value)))
  }
  const path = mapping.time?.split('.') ?? []
  const at = timeOf(path.length === 0 ? undefined : valueAt(value, path), received.receivedAtMs)
  const { [`${prefix}${mapping.time}`]: _time, ...rest } = flattened(value, { prefix })
  return become(...attrs(thingId, at, rest))
}

function readMappedMessage(thingId: string, received: Received): Answer<Read> {
  const body = readPayloadText(received.payload)
  if (isFault(body)) return body
  const about = { thing_id: thingId, occurred_at: received.receivedAtMs }
  return become(textMessage(body, about))
}
