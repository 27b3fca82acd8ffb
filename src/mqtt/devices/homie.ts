// Homie 5: every value is a retained topic of its own; the description says what its text means.

import { isRecord } from '#domain/record'
import { isFault } from '#domain/fault'
import { invalid } from '#src/schemas/values'
import { entityIdOf } from './entity-name.ts'
import { level, nothing, object, scalar } from './family.ts'
import type { Reader, Received, Row } from './family.ts'
import { withKnown } from './family-state.ts'
import type { HomieDevice } from './family-state.ts'
import { readPayloadJson, readPayloadText, scalarOf } from './payload.ts'
import type { JsonObject } from './payload.ts'
import { described, attrs, oneAttr, become } from './wishes.ts'

const DEVICES_MAX = 1_000
const PROPERTIES_MAX = 1_000
const STATES: Readonly<Record<string, boolean>> = {
  init: true,
  ready: true,
  sleeping: true,
  disconnected: false,
  lost: false,
}

const keyOf = (received: Received): string =>
  `${level(received, 'domain')}/${level(received, 'device')}`
const thingOf = (received: Received): string => entityIdOf(level(received, 'device'))

/** The loss of a root device is the loss of its children. */
const state = scalar((sent, received) => {
  const online = typeof sent === 'string' ? STATES[sent] : undefined
  if (sent === null) return become()
  if (online === undefined) {
    return invalid('payload', `must be ${Object.keys(STATES).join(', ')}`)
  }
  const domain = `${level(received, 'domain')}/`
  const children = [...received.state.homie].flatMap(([key, { root }]) =>
    sent === 'lost' && root === level(received, 'device') && key.startsWith(domain)
      ? [entityIdOf(key.slice(domain.length))]
      : [],
  )
  return become(
    ...[thingOf(received), ...children].flatMap((id) =>
      attrs(id, received.receivedAtMs, { online, state: sent }),
    ),
  )
})

const description = object((sent, received) => {
  const properties = propertiesOf(sent)
  if (properties.length > PROPERTIES_MAX) {
    return invalid('nodes', `must be at most ${PROPERTIES_MAX} properties`)
  }
  const datatypes = new Map(properties.map(({ key, datatype }) => [key, datatype]))
  const { root, name: title } = sent
  const value: HomieDevice = { datatypes, ...(typeof root === 'string' && { root }) }
  const units = properties.flatMap(({ attr, unit }): readonly [string, unknown][] =>
    typeof unit === 'string' ? [[`${attr}.unit`, unit]] : [],
  )
  const facts: JsonObject = Object.fromEntries<unknown>(units)
  return {
    wishes: [described(thingOf(received), received.receivedAtMs, { title, facts })],
    state: {
      ...received.state,
      homie: withKnown(received.state.homie, keyOf(received), { value, max: DEVICES_MAX }),
    },
  }
})

const propertiesOf = (sent: JsonObject) =>
  membersOf(sent['nodes']).flatMap(([node, about]) =>
    membersOf(about['properties']).map(([name, { datatype, unit }]) => ({
      key: `${node}/${name}`,
      attr: `${node}.${name}`,
      datatype: typeof datatype === 'string' ? datatype : '',
      unit,
    })),
  )

const membersOf = (sent: unknown): readonly (readonly [string, JsonObject])[] =>
  isRecord(sent)
    ? Object.entries(sent).flatMap(([name, member]) => (isRecord(member) ? [[name, member]] : []))
    : []

const TEXTS = ['string', 'enum', 'color', 'datetime', 'duration']

/** A property; a single NUL byte is the empty text, and no byte at all is no value. */
const property =
  (suffix = ''): Reader =>
  (received) => {
    const { node = '', property: name = '' } = received.levels
    const datatype = received.state.homie.get(keyOf(received))?.datatypes.get(`${node}/${name}`)
    const value = valueOf(received.payload, datatype)
    if (isFault(value)) return value
    const attr = oneAttr(`${node}.${name}${suffix}`, value)
    return become(...attrs(thingOf(received), received.receivedAtMs, attr))
  }

function valueOf(payload: Uint8Array, datatype = '') {
  if (payload.length === 0) return null
  if (payload.length === 1 && payload[0] === 0) return ''
  if (datatype === 'json') return readPayloadJson(payload)
  const text = readPayloadText(payload)
  return isFault(text) || TEXTS.includes(datatype) ? text : scalarOf(text)
}

const alert: Reader = (received) => {
  const text = valueOf(received.payload, 'string')
  if (isFault(text)) return text
  const attr = oneAttr(`alert.${level(received, 'alert')}`, text)
  return become(...attrs(thingOf(received), received.receivedAtMs, attr))
}

const ID = '[a-z0-9-]+'
const IDS = { device: ID, node: ID, property: ID }
const DEVICE = '+domain/5/+device'

export const HOMIE: readonly Row[] = [
  { topic: `${DEVICE}/$state`, where: IDS, read: state },
  { topic: `${DEVICE}/$description`, where: IDS, read: description },
  { topic: `${DEVICE}/$alert/+alert`, where: IDS, read: alert },
  { topic: `${DEVICE}/$log/+log`, where: IDS, read: nothing },
  { topic: `${DEVICE}/+node/+property`, where: IDS, read: property() },
  { topic: `${DEVICE}/+node/+property/$target`, where: IDS, read: property('.target') },
]
