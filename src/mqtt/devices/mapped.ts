// Reads publishes by mappings: those of a channel, and those that are built in for families.

import { isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { isRecord } from '#domain/record'
import { PLACE } from '#src/schemas/mappings/mapping'
import type { Mapping } from '#src/schemas/mappings/mapping'
import type { Levels } from '#src/schemas/mappings/topic-pattern'
import { invalid } from '#src/schemas/values'
import { entityIdOf } from './entity-name.ts'
import { object, scalar, text, value } from './family.ts'
import type { Read, Reader, Received } from './family.ts'
import { beginsAsObject, flattened, timeOf, truthOrText, valueAt } from './payload.ts'
import type { JsonObject, Scalar } from './payload.ts'
import type { Wish } from './publish.ts'
import { attrs, become, described, fromEach, note, oneAttr, textMessage } from './wishes.ts'

/** What values become: attrs of a Thing, whose id names levels of the topic in braces. */
interface ValueMapping extends Pick<Mapping, 'thing' | 'time' | 'prefix'> {
  /** The name of the attr that one value becomes, with levels in braces; else the last level. */
  readonly name?: string
  /** That name stands before those of the members of an object, too. */
  readonly isBelowName?: boolean
  /** Words for truth values are such within an object, too. */
  readonly hasWords?: boolean
  /** The member that happened and is over, which is a Message about the Thing. */
  readonly happening?: string
  /** The member whose members are the values of other Things, by their names. */
  readonly others?: string
}

const thingOf = (template: string, levels: Levels): string => {
  const id = template.replace(PLACE, (_place, name: string) => entityIdOf(levels[name] ?? ''))
  return id.length <= 64 ? id : entityIdOf(id)
}

const filled = (template: string, levels: Levels): string =>
  template.replace(PLACE, (_place, name: string) => levels[name] ?? '')

/** The name of an attr: levels that one place stands for are parted by dots. */
const attrNameOf = (template: string, levels: Levels): string =>
  filled(template, levels).replaceAll('/', '.')

function ofOne(
  sent: Scalar,
  { thing, name, prefix }: ValueMapping,
  { levels, topicLevels, receivedAtMs }: Received,
): Read {
  const attr = name === undefined ? (topicLevels.at(-1) ?? '') : attrNameOf(name, levels)
  return become(
    ...attrs(thingOf(thing, levels), receivedAtMs, oneAttr((prefix ?? '') + attr, sent)),
  )
}

function ofObject(
  sent: JsonObject,
  { thing, name = '', time, happening = '', others = '', ...mapping }: ValueMapping,
  { levels, receivedAtMs }: Received,
): Answer<Read> {
  const below = mapping.isBelowName === true ? `${attrNameOf(name, levels)}.` : ''
  const prefix = mapping.prefix ?? below
  const how = mapping.hasWords === true ? { prefix, text: truthOrText } : { prefix }
  const thingId = thingOf(thing, levels)
  const at = timeOf(time ? valueAt(sent, time.split('.')) : undefined, receivedAtMs)
  const { [happening]: what, [others]: behind, ...own } = sent
  const { [`${prefix}${time}`]: _time, ...values } = flattened(own, how)
  const wishes = fromEach(isRecord(behind) ? Object.entries(behind) : [], ([id, said]) =>
    attrs(entityIdOf(id), at, isRecord(said) ? flattened(said, how) : {}),
  )
  if (isFault(wishes)) return wishes
  const title = `${filled(thing, levels)}: ${String(what)}`
  const hasHappened = typeof what === 'string' && what !== ''
  const notes = hasHappened ? [note(thingId, at, title, { metadata: { [happening]: what } })] : []
  return become(...attrs(thingId, at, values), ...notes, ...wishes)
}

/** Makes a reader of one value or of a JSON object. */
export const attrsOf = (mapping: ValueMapping): Reader =>
  value((sent, received) =>
    isRecord(sent) ? ofObject(sent, mapping, received) : ofOne(sent, mapping, received),
  )

/** Makes a reader of one value, which an empty payload removes. */
export const attrsOfValue = (mapping: ValueMapping): Reader =>
  scalar((sent, received) => ofOne(sent, mapping, received))

/** Makes a reader of JSON objects. */
export const attrsOfObject = (mapping: ValueMapping): Reader =>
  object((sent, received) => ofObject(sent, mapping, received))

/** Leaves objects, and what takes one back, to the rows behind this one. */
export const unlessObject =
  (read: Reader): Reader =>
  (received) =>
    received.payload.length === 0 || beginsAsObject(received.payload) ? undefined : read(received)

const onlineOf =
  (thing: string, otherwise?: Fault) =>
  (state: unknown, { levels, receivedAtMs }: Received): Answer<Read> | undefined => {
    const isOnline = typeof state === 'string' ? truthOrText(state) : state
    if (typeof isOnline !== 'boolean') return otherwise
    return become(...attrs(thingOf(thing, levels), receivedAtMs, { online: isOnline }))
  }

/** Makes a reader of a word for availability; any other is refused, or left to other rows. */
export const online = (thing: string, otherwise?: Fault): Reader =>
  scalar(onlineOf(thing, otherwise))

/** Makes a reader of the same word, also as the member `state`. */
export const onlineState = (thing: string): Reader => {
  const read = onlineOf(thing, invalid('state', 'must be online or offline'))
  return value((sent, received) => read(isRecord(sent) ? sent['state'] : sent, received))
}

/** What a device says of itself, by the names of the members. */
interface SelfMapping {
  /** The name of the device; without it the level `name` of the topic. */
  readonly device?: string
  readonly title?: string
  readonly ids: readonly string[]
  /** Attrs by the paths of their values; without it every member that is not named is one. */
  readonly facts?: Readonly<Record<string, string>>
}

/** What the device of a name says of itself; a Fault for no name. */
export function selfOf(
  name: unknown,
  { sent, at }: { readonly sent: JsonObject; readonly at: number },
  { device = 'name', title = '', ids, facts }: SelfMapping,
): Answer<Wish> {
  if (typeof name !== 'string' || name === '') return invalid(device, 'must be a text')
  const named = [device, title, ...ids]
  const said: readonly (readonly [string, unknown])[] = facts
    ? Object.entries(facts).map(([fact, path]) => [fact, valueAt(sent, path.split('.'))])
    : Object.entries(sent).filter(([member]) => !named.includes(member))
  return described(entityIdOf(name), at, {
    title: sent[title],
    ids: Object.fromEntries(ids.map((id) => [id, sent[id]])),
    facts: Object.fromEntries(said),
  })
}

/** Makes a reader of what a device says of itself. */
export const self = (mapping: SelfMapping): Reader =>
  object((sent, { levels, receivedAtMs: at }) => {
    const name = mapping.device === undefined ? levels['name'] : sent[mapping.device]
    const wish = selfOf(name, { sent, at }, mapping)
    return isFault(wish) ? wish : become(wish)
  })

/** Reads a publish by a mapping of the channel whose pattern has its topic. */
export const readMapped = (mapping: Mapping, received: Received): Answer<Read> | undefined =>
  (mapping.kind === 'message' ? messages(mapping) : attrsOf(mapping))(received)

const messages = ({ thing }: Mapping): Reader =>
  text((body, { levels, receivedAtMs }) =>
    become(textMessage(body, { thing_id: thingOf(thing, levels), occurred_at: receivedAtMs })),
  )
