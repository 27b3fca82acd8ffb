// Homie 5: every value is a retained topic of its own; the description says what its text means.

import { isRecord } from '#domain/record'
import { isFault } from '#domain/fault'
import { invalid } from '#src/schemas/values'
import { entityIdOf } from './entity-name.ts'
import { level, nothing, object, scalar } from './family.ts'
import type { Reader, Received, Row } from './family.ts'
import { bytesOfText } from './family-state.ts'
import type { HomieDevice } from './family-state.ts'
import { readPayloadJson, readPayloadText, scalarOf } from './payload.ts'
import type { JsonObject } from './payload.ts'
import { WISHES_MAX, described, attrs, oneAttr, become } from './wishes.ts'

const PROPERTIES_MAX = 1_000
/** The devices that the loss of their root takes along, which is one more submission. */
const CHILDREN_MAX = WISHES_MAX - 1
/** What the data type of a property takes beside its name. */
const DATATYPE_BYTES = 96
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
  const ids = [thingOf(received)]
  for (const { device } of sent === 'lost' ? received.state.under('homie', keyOf(received)) : []) {
    if (ids.push(entityIdOf(device)) > CHILDREN_MAX) break
  }
  return become(...ids.flatMap((id) => attrs(id, received.receivedAtMs, { online, state: sent })))
})

const description = object((sent, received) => {
  const properties = propertiesOf(sent)
  if (properties.length > PROPERTIES_MAX) {
    return invalid('nodes', `must be at most ${PROPERTIES_MAX} properties`)
  }
  const { root, name: title } = sent
  const units = properties.flatMap(({ attr, unit }): readonly [string, unknown][] =>
    typeof unit === 'string' ? [[`${attr}.unit`, unit]] : [],
  )
  const facts: JsonObject = Object.fromEntries<unknown>(units)
  const known = deviceOf(received, properties, root)
  return {
    wishes: [described(thingOf(received), received.receivedAtMs, { title, facts })],
    learn: () => {
      received.state.keep(keyOf(received), known)
      return () => received.state.forget('homie', keyOf(received))
    },
  }
})

/** What is known of a device by its description; a type that none has means nothing. */
function deviceOf(
  received: Received,
  properties: ReturnType<typeof propertiesOf>,
  root: unknown,
): HomieDevice {
  const typed = properties.filter(({ datatype }) => datatype !== '')
  const isRooted = typeof root === 'string' && ROOT.test(root)
  return {
    kind: 'homie',
    device: level(received, 'device'),
    datatypes: new Map(typed.map(({ key, datatype }) => [key, datatype])),
    under: isRooted ? [`${level(received, 'domain')}/${root}`] : [],
    bytes: typed.reduce((sum, { key }) => sum + DATATYPE_BYTES + bytesOfText(key), 0),
  }
}

const propertiesOf = (sent: JsonObject) =>
  membersOf(sent['nodes']).flatMap(([node, about]) =>
    membersOf(about['properties']).map(([name, { datatype, unit }]) => ({
      key: `${node}/${name}`,
      attr: `${node}.${name}`,
      datatype: DATATYPES.find((known) => known === datatype) ?? '',
      unit,
    })),
  )

const membersOf = (sent: unknown): readonly (readonly [string, JsonObject])[] =>
  isRecord(sent)
    ? Object.entries(sent).flatMap(([name, member]) => (isRecord(member) ? [[name, member]] : []))
    : []

const TEXTS = ['string', 'enum', 'color', 'datetime', 'duration']
/** The data types by which a value is read otherwise than without one. */
const DATATYPES = [...TEXTS, 'json']

/** A property; a single NUL byte is the empty text, and no byte at all is no value. */
const property =
  (suffix = ''): Reader =>
  (received) => {
    const { node = '', property: name = '' } = received.levels
    const datatype = received.state.get('homie', keyOf(received))?.datatypes.get(`${node}/${name}`)
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
const ROOT = /^[a-z0-9-]{1,128}$/
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
