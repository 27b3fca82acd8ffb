// Reads a configuration of Home Assistant's discovery, of one component or of a whole device.

import { isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { isRecord } from '#domain/record'
import { invalid } from '#src/schemas/values'
import { entityIdOf } from './entity-name.ts'
import { level } from './family.ts'
import type { Received } from './family.ts'
import type { Words } from './family-state.ts'
import { readPayloadObject } from './payload.ts'
import type { JsonObject } from './payload.ts'
import { TOPIC_BYTES_MAX } from './topic.ts'

/** Where a value is published. */
interface Place {
  readonly topic: string
  /** Names that lead to the value in the JSON of the topic; none for the whole payload. */
  readonly path: readonly string[]
  readonly words: Words | undefined
}

/** One value that the configuration describes. */
export interface Component extends Place {
  readonly key: string
  readonly name: unknown
  readonly unit: unknown
  readonly deviceClass: unknown
}

export interface Configuration {
  /** The Thing of values whose topics no table knows. */
  readonly thingId: string
  readonly title: unknown
  readonly ids: JsonObject
  /** Facts about the device. */
  readonly device: JsonObject
  readonly components: readonly Component[]
  /** Where it is said whether the device is there. */
  readonly online: readonly Place[]
}

const COMPONENTS_MAX = 200
/** Topics of availability that are followed; further ones are left out. */
const AVAILABILITIES_MAX = 16

const LONG: ReadonlyMap<string, string> = new Map([
  ['avty', 'availability'],
  ['avty_t', 'availability_topic'],
  ['avty_tpl', 'availability_template'],
  ['cmps', 'components'],
  ['dev', 'device'],
  ['dev_cla', 'device_class'],
  ['hw', 'hw_version'],
  ['ids', 'identifiers'],
  ['mdl', 'model'],
  ['mf', 'manufacturer'],
  ['p', 'platform'],
  ['pl_avail', 'payload_available'],
  ['pl_not_avail', 'payload_not_available'],
  ['pl_off', 'payload_off'],
  ['pl_on', 'payload_on'],
  ['sn', 'serial_number'],
  ['stat_off', 'state_off'],
  ['stat_on', 'state_on'],
  ['stat_t', 'state_topic'],
  ['stat_val_tpl', 'state_value_template'],
  ['sw', 'sw_version'],
  ['t', 'topic'],
  ['unit_of_meas', 'unit_of_measurement'],
  ['val_tpl', 'value_template'],
])

/** The members under their long names. */
function spelt(sent: unknown): JsonObject {
  const entries = Object.entries(isRecord(sent) ? sent : {})
  return Object.fromEntries(entries.map(([name, member]) => [LONG.get(name) ?? name, member]))
}

const textIn = (sent: unknown): string | undefined =>
  typeof sent === 'string' && sent !== '' ? sent : undefined

/** The topic of a member, with the base topic in the place of `~`; undefined for none. */
function topicIn(sent: unknown, base: unknown): string | undefined {
  const text = textIn(sent)
  // Whatever stands in them is checked before they are joined, and means nothing else then.
  if (text === undefined || !isOfTopic(text)) return undefined
  if (typeof base !== 'string' || !/^~|~$/.test(text)) return text
  if (!isOfTopic(base)) return undefined
  const topic = text.startsWith('~') ? base + text.slice(1) : text.slice(0, -1) + base
  return isOfTopic(topic) ? topic : undefined
}

/** False for a filter that says nothing of the last level: too much would be looked up for it. */
const isFollowed = (topic: string | undefined): topic is string =>
  topic !== undefined && !/#|\+[^/]*$/.test(topic)

const isOfTopic = (text: string): boolean => text.length <= TOPIC_BYTES_MAX

const WHOLE = /^\{\{\s*value\s*\}\}$/
const MEMBERS =
  /^\{\{\s*value_json((?:\.\w+|\[(?:'[^']*'|"[^"]*")\])+)\s*(?:\|\s*is_defined\s*)?\}\}$/

/** A longer template is a program. */
const TEMPLATE_MAX = 512

/** The path of a template in one of the two plain forms; undefined for a program. */
function pathOf(template: unknown): readonly string[] | undefined {
  if (template === undefined) return []
  if (typeof template !== 'string' || template.length > TEMPLATE_MAX) return undefined
  const text = template.trim()
  if (WHOLE.test(text)) return []
  const [, members] = MEMBERS.exec(text) ?? []
  return members
    ?.match(/\w+(?=[.[]|$)|'[^']*'|"[^"]*"/g)
    ?.map((name) => name.replace(/^['"]|['"]$/g, ''))
}

function componentOf(key: string, sent: JsonObject, topic?: string): Component | undefined {
  const { value_template: template, state_value_template: ofState, ...members } = sent
  const path = pathOf(template ?? ofState)
  if (!isFollowed(topic) || path === undefined) return undefined
  const { name, unit_of_measurement: unit, device_class: deviceClass } = members
  const { payload_on, payload_off, state_on = payload_on, state_off = payload_off } = members
  const hasWords = state_on !== undefined || state_off !== undefined
  const words = hasWords ? wordsOf(state_on ?? 'on', state_off ?? 'off') : undefined
  return { key, topic, path, name, unit, deviceClass, words }
}

const wordsOf = (on: unknown, off: unknown, areAll = false): Words => ({
  on: String(on).toLowerCase(),
  off: String(off).toLowerCase(),
  areAll,
})

/** True for a component that a device no longer has. */
const isRemoved = (sent: JsonObject): boolean => Object.keys(sent).join() === 'platform'

/** Those that a configuration lists, or the one that it is. */
function componentsOf(config: JsonObject, object: string): Answer<readonly Component[]> {
  const { components: listed, '~': base } = config
  const shared = topicIn(config['state_topic'], base)
  const members = isRecord(listed) ? Object.entries(listed) : [[object, config] as const]
  if (members.length > COMPONENTS_MAX) {
    return invalid('components', `must be at most ${COMPONENTS_MAX}`)
  }
  return members.flatMap(([key, member]) => {
    const sent = spelt(member)
    if (isRemoved(sent)) return []
    const topic = sent['state_topic']
    const own = topic === undefined ? shared : topicIn(topic, sent['~'] ?? base)
    return componentOf(key, sent, own) ?? []
  })
}

/** Reads a configuration; components without a topic, or with a program for it, are left out. */
export function readConfiguration(received: Received): Answer<Configuration> {
  const sent = readPayloadObject(received.payload)
  if (isFault(sent)) return sent
  const config = spelt(sent)
  const object = level(received, 'object')
  if (level(received, 'component') === 'device' && !isRecord(config['components'])) {
    return invalid('components', 'must be an object')
  }
  const components = componentsOf(config, object)
  if (isFault(components)) return components
  const device = spelt(config['device'])
  const { identifiers, manufacturer, model, sw_version, serial_number: serial } = device
  const id = textIn(Array.isArray(identifiers) ? identifiers[0] : identifiers)
  const isWhole = components.length === 1 && components[0]?.path.length === 0
  return {
    thingId: entityIdOf(id ?? textIn(level(received, 'node')) ?? object),
    title: device['name'] ?? (isWhole ? config['name'] : undefined),
    ids: { identifier: id, serial },
    device: { manufacturer, model, sw_version },
    components,
    online: onlineOf(config),
  }
}

/** One topic, or a list of them: what was said last counts, as in Home Assistant by default. */
function onlineOf(config: JsonObject): readonly Place[] {
  const { availability_topic: one, availability_template, availability, '~': base } = config
  const { payload_available, payload_not_available } = config
  const said = { payload_available, payload_not_available }
  const single = { topic: one, value_template: availability_template, ...said }
  const listed: readonly unknown[] = Array.isArray(availability) ? availability : [availability]
  return [single, ...listed.slice(0, AVAILABILITIES_MAX)].flatMap((sent) => {
    const { topic: named, value_template: template, ...words } = spelt(sent)
    const topic = topicIn(named, base)
    const path = pathOf(template)
    if (!isFollowed(topic) || path === undefined) return []
    const { payload_available: on = 'online', payload_not_available: off = 'offline' } = words
    return [{ topic, path, words: wordsOf(on, off, true) }]
  })
}
