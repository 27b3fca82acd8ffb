// Makes submissions of what a publish says. Times are Unix milliseconds, or what a client sent.

import { bare } from '#domain/record'
import { TITLE_IN_DEFAULT } from '#domain/submission'
import { isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { EventSubmission, ThingAction } from '#domain/submission'
import { invalid } from '#src/schemas/values'
import type { Read } from './family.ts'
import { flattened } from './payload.ts'
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

/** The members that are text. */
const textsOf = (object: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(object).filter(([, said]) => typeof said === 'string' && said !== ''),
  )

/** What a device says about itself: its name, its ids elsewhere, and facts as attrs. */
export function described(
  thingId: string,
  at: unknown,
  said: { readonly title?: unknown; readonly ids?: JsonObject; readonly facts?: JsonObject },
): Wish {
  const ids = textsOf(said.ids ?? {})
  const facts = flattened(said.facts ?? {})
  return thing(thingId, at, {
    ...textsOf({ title: said.title }),
    ...(Object.keys(ids).length > 0 && { external_ids: ids }),
    ...(Object.keys(facts).length > 0 && { attrs: facts }),
  })
}

const TITLE_CHARACTERS_MAX = 120

/** A Message of plain text, whose first line is its title. */
export function textMessage(body: string, fields: JsonObject = {}): Wish {
  const [line = ''] = body.trim().split('\n', 1)
  const begin = line.trim().slice(0, 2 * TITLE_CHARACTERS_MAX) // No more units than characters.
  const title = Array.from(begin).slice(0, TITLE_CHARACTERS_MAX).join('')
  return message({ title: title === '' ? TITLE_IN_DEFAULT : title, body, ...fields })
}

/** A Message that interrupts nobody, about what happened to a Thing. */
export const note = (thingId: string, at: number, title: string, fields: JsonObject = {}): Wish =>
  message({ title, severity: 'low', ...fields, thing_id: thingId, occurred_at: at })

/** A step of an Event; the creation of an Event that exists is an update of it. */
export const event = (
  eventId: string,
  at: unknown,
  { action, ...fields }: JsonObject & { readonly action: EventSubmission['action'] },
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

export const become = (...wishes: readonly Wish[]): Read => ({ wishes })

/** The most submissions that one publish may become. */
export const WISHES_MAX = 1_000
export const TOO_MANY = invalid('payload', `must be at most ${WISHES_MAX} submissions`)

/** What the items of a list become, or the first refusal; no more is made than may be. */
export function fromEach<Item>(
  items: readonly Item[],
  read: (item: Item, index: number) => Answer<readonly Wish[]>,
): Answer<readonly Wish[]> {
  if (items.length > WISHES_MAX) return TOO_MANY
  const wishes: Wish[] = []
  for (const [index, item] of items.entries()) {
    const some = read(item, index)
    if (isFault(some)) return some
    wishes.push(...some)
    if (wishes.length > WISHES_MAX) return TOO_MANY
  }
  return wishes
}

/** What wishes become, unless they are refused. */
export const becomeOf = (wishes: Answer<readonly Wish[]>): Answer<Read> =>
  isFault(wishes) ? wishes : { wishes }
