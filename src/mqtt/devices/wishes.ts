// Makes submissions of what a publish says. Times are Unix milliseconds, or what a client sent.

import { bare } from '#domain/record'
import type { EventAction, ThingAction } from '#domain/submission'
import type { Read } from './family.ts'
import type { JsonObject } from './payload.ts'
import type { Wish } from './publish.ts'

/** An action on a Thing, by default an update. */
export const thing = (
  thingId: string,
  at: unknown,
  fields: JsonObject,
  action: Exclude<ThingAction, 'create'> = 'update',
): Wish => ({
  intent: { model: 'thing', action },
  fields: { ...fields, thing_id: thingId, observed_at: at },
})

/** An update of a Thing's attrs; none when there are no attrs. */
export const attrs = (thingId: string, at: unknown, values: JsonObject): readonly Wish[] =>
  Object.keys(values).length === 0 ? [] : [thing(thingId, at, { attrs: values })]

/** A record of one attr, whose name a device chose. */
export function oneAttr(name: string, value: unknown): JsonObject {
  const record = bare<unknown>()
  record[name] = value
  return record
}

/** A step of an Event; the creation of an Event that exists is an update of it. */
export const event = (
  eventId: string,
  at: unknown,
  { action, ...fields }: JsonObject & { readonly action: EventAction },
): Wish =>
  action === 'create'
    ? { intent: { model: 'event', action, eventId }, fields: { ...fields, event_time: at } }
    : {
        intent: { model: 'event', action },
        fields: { ...fields, event_id: eventId, event_time: at },
      }

/** A Message. */
export const message = (fields: JsonObject): Wish => ({
  intent: { model: 'message', action: 'send' },
  fields,
})

export const read = (...wishes: readonly Wish[]): Read => ({ wishes })
