// Words feed entries and entities as publishes of the gateway's own topics.

import type { Event, Thing } from '#domain/entity'
import { ttlOf } from '#domain/feed'
import type { FeedEntry } from '#domain/feed'
import { isRecord } from '#domain/record'
import { attrLevelOf } from './devices/session-topics.ts'
import { eventToWire, thingToWire } from '#src/schemas/answers'
import { parseJson } from '#src/schemas/json/json'
import type { Frame } from '#src/transports/signals'

/** What subscribers of a topic get. */
export interface News {
  readonly topic: string
  readonly payload: string
}

const FOLDER = { thing: 'things', event: 'events' } as const

/**
 * The publishes of an entry: the entry as JSON, and of a Thing each attr that it sets or removes.
 * `wantsAttrs`: whether anybody subscribes to those.
 */
export function newsOf(entry: FeedEntry, wantsAttrs: boolean): readonly News[] {
  const { model, entityId } = entry
  const topic = model === 'message' ? 'messages' : `${FOLDER[model]}/${entityId}`
  const whole = { topic, payload: textOf(entry) }
  if (model !== 'thing' || !wantsAttrs) return [whole]
  const payload = parseJson(entry.payload)
  const attrs = isRecord(payload) ? payload['attrs'] : undefined
  return [whole, ...attrsOf(topic, attrs)]
}

/** The publishes of a Thing's present state. */
export function stateOfThing(thing: Thing, wantsAttrs: boolean): readonly News[] {
  const topic = `things/${thing.id}`
  const wire = thingToWire(thing)
  const whole = { topic, payload: JSON.stringify(wire) }
  return wantsAttrs ? [whole, ...attrsOf(topic, wire['attrs'])] : [whole]
}

/** The publish of an Event's present state. */
export const stateOfEvent = (event: Event): News => ({
  topic: `events/${event.id}`,
  payload: JSON.stringify(eventToWire(event)),
})

/** The frames, of which those of Messages past their ttl have no entry: they go to nobody. */
export function freshOf(frames: readonly Frame[], nowMs: number): readonly Frame[] {
  const isOver = ({ entry }: Frame): boolean =>
    entry !== undefined && (ttlOf(entry) ?? Infinity) <= nowMs
  if (!frames.some(isOver)) return frames // As nearly always.
  return frames.map((frame) => {
    const { entry: _entry, ...rest } = frame
    return isOver(frame) ? rest : frame
  })
}

/** The facts of the entry in front of what it changes; every name is from a plain alphabet. */
function textOf({ action, seq, state, rev, acceptedAt, opId, payload }: FeedEntry): string {
  const known = [
    `{"action":"${action}","seq":${seq},"op_id":"${opId}","accepted_at":${acceptedAt}`,
    ...(state === undefined ? [] : [`"state":"${state}"`]),
    ...(rev === undefined ? [] : [`"rev":${rev}`]),
  ].join(',')
  return payload === '{}' ? `${known}}` : `${known},${payload.slice(1)}`
}

/** No level of a topic can stand for the names of the others. */
const isTopicName = (name: string): boolean => name !== '' && !name.includes('\0')

function attrsOf(topic: string, attrs: unknown): readonly News[] {
  if (!isRecord(attrs)) return []
  return Object.entries(attrs)
    .filter(([name]) => isTopicName(name))
    .map(([name, value]) => ({
      topic: `${topic}/attrs/${attrLevelOf(name)}`,
      payload: scalarText(value),
    }))
}

/** A text as it is, nothing for a removed value, JSON for everything else. */
function scalarText(value: unknown): string {
  if (typeof value === 'string') return value
  return value === null ? '' : JSON.stringify(value)
}
