// The mappings that are built in: what the topics of simple families become, said as a channel's
// own mappings say it of other topics.

import { invalid } from '#src/schemas/values'
import { nothing } from './family.ts'
import type { Row } from './family.ts'
import { frigateEvent, shellyNotification } from './happenings.ts'
import { zigbeeDevices, zigbeeError, zigbeeJoined } from './happenings.ts'
import { attrsOf, attrsOfObject, attrsOfValue, online } from './mapped.ts'
import { onlineState, self, unlessObject } from './mapped.ts'

const tasmotaTopics = ['tele', 'stat'].flatMap((prefix) => [
  `${prefix}/#topic/`,
  `tasmota/#topic/${prefix}/`,
  `#topic/${prefix}/`,
])
const tasmotaKind = { kind: '[A-Z][A-Z0-9_]*' }
const tasmotaFacts = { model: 'md', version: 'sw', ip: 'ip' }
/** A bridge reports the devices behind it under their addresses. */
const tasmotaReport = attrsOf({
  thing: '{topic}',
  name: '{kind}',
  time: 'Time',
  hasWords: true,
  others: 'ZbReceived',
})

export const TASMOTA: readonly Row[] = [
  {
    topic: 'tasmota/discovery/+mac/config',
    read: self({ device: 't', title: 'dn', ids: ['mac'], facts: tasmotaFacts }),
  },
  { topic: 'tasmota/discovery/+mac/sensors', read: nothing },
  ...tasmotaTopics.flatMap((topic) => [
    { topic: `${topic}LWT`, read: online('{topic}') },
    { topic: `${topic}+kind`, where: tasmotaKind, read: tasmotaReport },
  ]),
]

/** A device of Zigbee2MQTT is a name, which may have slashes, below the base topic. */
const zigbeeAttr = unlessObject(attrsOfValue({ thing: '{device}', name: '{attr}' }))
const zigbeeReport = attrsOfObject({
  thing: '{device}',
  time: 'last_seen',
  hasWords: true,
  happening: 'action',
})

export const ZIGBEE2MQTT: readonly Row[] = [
  { topic: 'zigbee2mqtt/bridge/state', read: onlineState('zigbee2mqtt') },
  { topic: 'zigbee2mqtt/bridge/devices', read: zigbeeDevices },
  { topic: 'zigbee2mqtt/bridge/event', read: zigbeeJoined },
  { topic: 'zigbee2mqtt/bridge/logging', read: zigbeeError },
  { topic: 'zigbee2mqtt/bridge/#rest', read: nothing },
  { topic: 'zigbee2mqtt/#device/availability', read: onlineState('{device}') },
  { topic: 'zigbee2mqtt/#device/set', read: nothing },
  { topic: 'zigbee2mqtt/#device/get', read: nothing },
  { topic: 'zigbee2mqtt/#device/set/+attr', read: nothing },
  { topic: 'zigbee2mqtt/#device/+attr', read: zigbeeAttr },
  { topic: 'zigbee2mqtt/#device', read: zigbeeReport },
]

const esphomeType = {
  type:
    'alarm_control_panel|binary_sensor|button|climate|cover|date|datetime|event|fan|light|lock' +
    '|media_player|number|select|sensor|switch|text|text_sensor|time|update|valve|water_heater',
}
const esphome = (name: string) =>
  attrsOf({ thing: '{prefix}', name, isBelowName: true, hasWords: true })

export const ESPHOME: readonly Row[] = [
  { topic: 'esphome/discover/+name', read: self({ title: 'friendly_name', ids: ['mac'] }) },
  { topic: '#prefix/+type/+name/state', where: esphomeType, read: esphome('{type}.{name}') },
  {
    topic: '#prefix/+type/+name/+part/state',
    where: esphomeType,
    read: esphome('{type}.{name}.{part}'),
  },
  { topic: '#prefix/status', read: online('{prefix}') },
  { topic: '#prefix/debug', read: nothing },
]

const shellyDevice = self({ device: 'id', ids: ['mac'] })
/** `relay/0` of Gen1 is the attr `relay.0`. */
const shellyReport = attrsOf({
  thing: '{prefix}',
  name: '{name}',
  isBelowName: true,
  hasWords: true,
})
const shellyStatus = attrsOfObject({ thing: '{prefix}', name: '{component}', isBelowName: true })
const shellyComponent = { component: '[a-z][a-z0-9_]*(?::[0-9]+)?' }

export const SHELLY: readonly Row[] = [
  { topic: 'shellies/announce', read: shellyDevice },
  { topic: 'shellies/+prefix/announce', read: shellyDevice },
  { topic: 'shellies/+prefix/online', read: online('{prefix}') },
  { topic: 'shellies/+prefix/#name', read: shellyReport },
  { topic: '#prefix/online', read: online('{prefix}') },
  { topic: '#prefix/events/rpc', read: shellyNotification },
  { topic: '#prefix/status/+component', where: shellyComponent, read: shellyStatus },
  { topic: '#prefix/rpc', read: nothing },
]

const frigateOnline = online('frigate', invalid('payload', 'must be online or offline'))
/** What a camera counts, and its switches. */
const frigateValue = attrsOfValue({ thing: '{camera}', name: '{name}' })
const frigatePart = attrsOfValue({ thing: '{camera}', name: '{name}.{part}' })

const MOTION_SWITCH = { name: 'motion', part: 'state' }

export const FRIGATE: readonly Row[] = [
  { topic: 'frigate/events', read: frigateEvent },
  { topic: 'frigate/available', read: frigateOnline },
  { topic: 'frigate/+kind', read: nothing },
  { topic: 'frigate/+camera/+name', read: frigateValue },
  // The attr of its name is whether the camera sees motion.
  { topic: 'frigate/+camera/+name/+part', where: MOTION_SWITCH, read: frigatePart },
  { topic: 'frigate/+camera/+name/state', read: frigateValue },
  { topic: 'frigate/+camera/+name/snapshot', read: nothing },
  { topic: 'frigate/+camera/+name/set', read: nothing },
  { topic: 'frigate/+camera/+name/+part', read: frigatePart },
]
