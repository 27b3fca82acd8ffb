// Reads a configuration of Home Assistant's discovery, of one component or of a whole device.

import { isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { isRecord } from '#domain/record'
import { invalid } from '#src/schemas/values'
import { entityIdOf } from './entity-name.ts'
import { level } from './family.ts'
import type { Received } from './family.ts'
import { readPayloadObject, valueAt } from './payload.ts'
import type { JsonObject } from './payload.ts'

/** One value that the configuration describes. */
export interface Component {
  readonly key: string
  readonly topic: string
  /** Names that lead to the value in the JSON of the topic; none for the whole payload. */
  readonly path: readonly string[]
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
  /** The topic that says whether the device is there. */
  readonly online: string | undefined
}

const COMPONENTS_MAX = 200

const LONG: Readonly<Record<string, string>> = {
  avty: 'availability',
  avty_t: 'availability_topic',
  cmps: 'components',
  dev: 'device',
  dev_cla: 'device_class',
  hw: 'hw_version',
  ids: 'identifiers',
  mdl: 'model',
  mf: 'manufacturer',
  sn: 'serial_number',
  stat_t: 'state_topic',
  sw: 'sw_version',
  t: 'topic',
  unit_of_meas: 'unit_of_measurement',
  val_tpl: 'value_template',
}

/** The members under their long names, with the base topic in the place of `~`. */
function spelt(sent: JsonObject): JsonObject {
  const base = sent['~']
  const whole = (text: string): string =>
    typeof base === 'string' ? text.replace(/^~|~$/, base) : text
  const entries = Object.entries(sent).map(([name, member]) => [
    Object.hasOwn(LONG, name) ? LONG[name] : name,
    typeof member === 'string' ? whole(member) : member,
  ])
  return Object.fromEntries(entries) as JsonObject
}

const speltIn = (sent: unknown): JsonObject => (isRecord(sent) ? spelt(sent) : {})
const textIn = (sent: unknown): string | undefined =>
  typeof sent === 'string' && sent !== '' ? sent : undefined

const WHOLE = /^\{\{\s*value\s*\}\}$/
const MEMBERS = /^\{\{\s*value_json((?:\.\w+|\[(?:'[^']*'|"[^"]*")\])+)\s*\}\}$/

/** The path of a template in one of the two plain forms; undefined for a program. */
function pathOf(template: unknown): readonly string[] | undefined {
  if (template === undefined) return []
  if (typeof template !== 'string') return undefined
  const text = template.trim()
  if (WHOLE.test(text)) return []
  const [, members] = MEMBERS.exec(text) ?? []
  return members
    ?.match(/\w+(?=[.[]|$)|'[^']*'|"[^"]*"/g)
    ?.map((name) => name.replace(/^['"]|['"]$/g, ''))
}

function componentOf(key: string, sent: JsonObject, shared: JsonObject): Component | undefined {
  const topic = textIn(sent['state_topic'] ?? shared['state_topic'])
  const path = pathOf(sent['value_template'])
  if (topic === undefined || path === undefined) return undefined
  const { name, unit_of_measurement: unit, device_class: deviceClass } = sent
  return { key, topic, path, name, unit, deviceClass }
}

/** Reads a configuration; components without a topic, or with a program for it, are left out. */
export function readConfiguration(received: Received): Answer<Configuration> {
  const sent = readPayloadObject(received.payload)
  if (isFault(sent)) return sent
  const config = spelt(sent)
  const object = level(received, 'object')
  const listed = config['components']
  if (level(received, 'component') === 'device' && !isRecord(listed)) {
    return invalid('components', 'must be an object')
  }
  const members: readonly (readonly [string, JsonObject])[] = isRecord(listed)
    ? Object.entries(listed).map(([key, member]) => [
        key,
        spelt({ '~': config['~'], ...speltIn(member) }),
      ])
    : [[object, config]]
  if (members.length > COMPONENTS_MAX) {
    return invalid('components', `must be at most ${COMPONENTS_MAX}`)
  }
  const components = members.flatMap(([key, member]) => componentOf(key, member, config) ?? [])
  const device = speltIn(config['device'])
  const { identifiers, manufacturer, model, sw_version, serial_number: serial } = device
  const id = textIn(Array.isArray(identifiers) ? identifiers[0] : identifiers)
  const isWhole = components.length === 1 && components[0]?.path.length === 0
  return {
    thingId: entityIdOf(id ?? textIn(level(received, 'node')) ?? object),
    title: device['name'] ?? (isWhole ? config['name'] : undefined),
    ids: { identifier: id, serial },
    device: { manufacturer, model, sw_version },
    components,
    online:
      textIn(config['availability_topic']) ??
      textIn(speltIn(valueAt(config, ['availability']))['topic']),
  }
}
