// Home Assistant's discovery: what publishes elsewhere are about. Where a table knows the topic of
// a value, its name, unit and class go to the attr that the table makes of it; the topic is
// remembered otherwise.

import { isFault } from '#domain/fault'
import { withDiscovered } from '#domain/history/presentation'
import type { SaidOfAttr } from '#domain/history/presentation'
import { bare, isRecord } from '#domain/record'
import { saidOfAttr } from '#src/schemas/history/presentation'
import { nothing } from './family.ts'
import type { Reader, Received, Row } from './family.ts'
import { bytesOfText } from './family-state.ts'
import type { DiscoveredValue, Discovery, Words } from './family-state.ts'
import { flattened, readPayloadJson, readScalar, truthOrText, valueAt } from './payload.ts'
import type { JsonObject } from './payload.ts'
import { readConfiguration } from './home-assistant-config.ts'
import type { Component, Configuration } from './home-assistant-config.ts'
import { attrsOf } from './mapped.ts'
import type { Forget } from './publish.ts'
import { described, attrs, become } from './wishes.ts'

/** Values that one publish may bring. */
const VALUES_OF_TOPIC_MAX = 200
/** Bytes of a value beside its texts. */
const VALUE_BYTES = 160

/** A value with the topic that brings it. */
type Found = readonly [topic: string, value: DiscoveredValue]

interface Landing extends DiscoveredValue {
  /** True when a table reads the topic of the value by itself. */
  readonly isRead: boolean
}

/** The place to which the value of a component goes. */
function landingOf(component: Component, thingId: string, received: Received): Landing {
  const { topic, path, key, words } = component
  const sample = path.reduceRight<unknown>((within, name) => ({ [name]: within }), 0)
  const found = received.readOther(topic, Buffer.from(JSON.stringify(sample)))
  const wish = found === undefined || isFault(found) ? undefined : found.wishes?.[0]
  const { thing_id: id, attrs: names } = wish?.fields ?? {}
  const [attr] = isRecord(names) ? Object.keys(names) : []
  if (typeof id === 'string' && attr !== undefined) {
    return { thingId: id, attr, path, words, isRead: true }
  }
  return { thingId, attr: path.length === 0 ? key : path.join('.'), path, words, isRead: false }
}

const configuration: Reader = (received) => {
  const { state, topic } = received
  const forget = (): undefined => state.forget('discovery', topic)
  if (received.payload.length === 0) return { learn: forget }
  const said = readConfiguration(received)
  if (isFault(said)) return said
  const { thingId, components, online } = said
  const discovered: Found[] = []
  const faces: SaidOfAttr[] = []
  const facts = new Map<string, Record<string, unknown>>([[thingId, bare()]])
  for (const component of components) {
    const landing = landingOf(component, thingId, received)
    const named = facts.get(landing.thingId) ?? bare<unknown>()
    facts.set(landing.thingId, Object.assign(named, factsOf(component, landing.attr)))
    faces.push(...saidOfAttr(landing.attr, component.name, component.unit))
    if (!landing.isRead) discovered.push([component.topic, landing])
  }
  for (const place of online) {
    const isRead = received.readOther(place.topic, ONLINE) !== undefined
    const { path, words } = place
    if (!isRead) discovered.push([place.topic, { thingId, attr: 'online', path, words }])
  }
  const learn = (): Forget => {
    forget()
    if (discovered.length > 0) state.keep(topic, discoveryOf(discovered))
    return forget
  }
  const wishes = metadataOf(said, facts, received)
  return { wishes, discovered: withDiscovered({}, faces), learn }
}
const ONLINE = new TextEncoder().encode('online')

const factsOf = ({ name, unit, deviceClass }: Component, attr: string): JsonObject => ({
  ...(name !== undefined && { [`${attr}.name`]: name }),
  ...(unit !== undefined && { [`${attr}.unit`]: unit }),
  ...(deviceClass !== undefined && { [`${attr}.class`]: deviceClass }),
})

/** What the configuration says of each Thing: the device's own facts where one Thing has all. */
function metadataOf(
  { thingId, title, ids, device }: Configuration,
  facts: ReadonlyMap<string, JsonObject>,
  { receivedAtMs }: Received,
) {
  const things = [...facts].filter(([id, some]) => id !== thingId || Object.keys(some).length > 0)
  return things.map(([id, some]) =>
    described(id, receivedAtMs, {
      ...(things.length === 1 && { title, ids }),
      facts: things.length === 1 ? { ...device, ...some } : some,
    }),
  )
}

function discoveryOf(found: readonly Found[]): Discovery {
  const values = new Map<string, DiscoveredValue[]>()
  let bytes = 0
  for (const [topic, { thingId, attr, path, words }] of found) {
    const filter = topic.includes('+') ? topic : undefined
    const name = filter === undefined ? topic : nameOf(topic)
    const some = values.get(name) ?? []
    values.set(name, some)
    some.push({ thingId, attr, path, words, filter })
    // The attr has the names of the path; each of these may stand for the text around it.
    bytes += VALUE_BYTES + bytesOfText(thingId) + 2 * bytesOfText(attr) + bytesOfText(topic)
    if (words !== undefined) bytes += bytesOfText(words.on) + bytesOfText(words.off)
  }
  return { kind: 'discovery', values, under: [...values.keys()], bytes }
}

/** The name by which topics find a filter that takes them: its last level. */
const nameOf = (topic: string): string => `+${topic.slice(topic.lastIndexOf('/') + 1)}`

function takes(filter: string | undefined, topicLevels: readonly string[]): boolean {
  if (filter === undefined) return true
  const levels = filter.split('/')
  if (levels.length !== topicLevels.length) return false
  return levels.every((level, at) => level === '+' || level === topicLevels[at])
}

/** `homeassistant/sensor/kitchen/state`: the Thing is the object. */
const stated = attrsOf({ thing: '{object}', name: 'state', hasWords: true })

function valuesOf({ state, topic, topicLevels }: Received): readonly DiscoveredValue[] {
  const values: DiscoveredValue[] = []
  let left = VALUES_OF_TOPIC_MAX
  for (const name of [topic, nameOf(topic)]) {
    for (const discovery of state.under('discovery', name)) {
      if ((left -= 1) < 0) break
      const named = discovery.values.get(name) ?? []
      values.push(...named.filter(({ filter }) => takes(filter, topicLevels)))
    }
  }
  return values.slice(0, VALUES_OF_TOPIC_MAX)
}

/** A value by the words of its configuration; undefined for one that says nothing. */
function meant(found: unknown, { on, off, areAll }: Partial<Words> = {}): unknown {
  const isOne = typeof found === 'string' || typeof found === 'number' || typeof found === 'boolean'
  const text = isOne ? String(found).toLowerCase() : undefined
  if (text !== undefined && text === on) return true
  if (text !== undefined && text === off) return false
  const said = typeof found === 'string' ? truthOrText(found) : found
  return areAll === true && typeof said !== 'boolean' ? undefined : said
}

/** A topic that a configuration named. */
const discovered: Reader = (received) => {
  const values = valuesOf(received)
  if (values.length === 0) return undefined
  const isJson = values.some(({ path }) => path.length > 0)
  const sent = isJson ? readPayloadJson(received.payload) : readScalar(received.payload)
  if (isFault(sent)) return sent
  const byThing = new Map<string, Record<string, unknown>>()
  for (const { thingId, attr, path, words } of values) {
    const found = meant(valueAt(sent, path), words)
    if (found === undefined) continue
    const some = byThing.get(thingId) ?? bare<unknown>()
    byThing.set(thingId, some)
    if (isRecord(found)) Object.assign(some, flattened(found, { prefix: `${attr}.` }))
    else some[attr] = found
  }
  return become(...[...byThing].flatMap(([id, some]) => attrs(id, received.receivedAtMs, some)))
}

const BASE = 'homeassistant'

export const HOME_ASSISTANT: readonly Row[] = [
  { topic: `${BASE}/status`, read: nothing },
  { topic: `${BASE}/+component/+object/config`, read: configuration },
  { topic: `${BASE}/+component/+node/+object/config`, read: configuration },
  { topic: `${BASE}/+component/+object/state`, read: stated },
  { topic: `${BASE}/+component/+node/+object/state`, read: stated },
]

/** Read after every table. */
export const DISCOVERED: readonly Row[] = [{ topic: '#topic', read: discovered }]
