// Zigbee2MQTT: a device is a name, which may have slashes, below the base topic.

import { isRecord } from '#domain/record'
import { invalid } from '#src/schemas/values'
import { entityIdOf } from './entity-name.ts'
import { json, level, nothing, object, value } from './family.ts'
import type { Received, Row } from './family.ts'
import { flattened, timeOf, truthOrText } from './payload.ts'
import type { JsonObject, Scalar } from './payload.ts'
import type { Wish } from './publish.ts'
import { described, attrs, fromEach, message, note, oneAttr, become, becomeOf } from './wishes.ts'

const BRIDGE = 'zigbee2mqtt'

/** `online`, or `{"state":"online"}`. */
function onlineOf(sent: Scalar | JsonObject): boolean | undefined {
  const state = isRecord(sent) ? sent['state'] : sent
  const online = typeof state === 'string' ? truthOrText(state) : state
  return typeof online === 'boolean' ? online : undefined
}

const availabilityOf = (thingOf: (received: Received) => string) =>
  value((sent, received) => {
    const online = onlineOf(sent)
    if (online === undefined) return invalid('state', 'must be online or offline')
    return become(...attrs(thingOf(received), received.receivedAtMs, { online }))
  })

const deviceOf = (received: Received): string => entityIdOf(level(received, 'device'))

const report = value((sent, received) => {
  const name = level(received, 'device')
  if (isRecord(sent)) return become(...ofState(name, sent, received))
  const cut = name.lastIndexOf('/')
  if (cut < 0) return invalid('payload', 'must be a JSON object')
  const attr = oneAttr(name.slice(cut + 1), sent)
  return become(...attrs(entityIdOf(name.slice(0, cut)), received.receivedAtMs, attr))
})

/** An action, such as a press of a button, is over at once: it is a Message and no state. */
function ofState(
  name: string,
  { last_seen: seen, action, ...state }: JsonObject,
  { receivedAtMs }: Received,
): readonly Wish[] {
  const thingId = entityIdOf(name)
  const at = timeOf(seen, receivedAtMs)
  const did = typeof action === 'string' && action !== '' ? [action] : []
  return [
    ...attrs(thingId, at, flattened(state, { text: truthOrText })),
    ...did.map((what) => note(thingId, at, `${name}: ${what}`, { metadata: { action: what } })),
  ]
}

const list = json((sent, { receivedAtMs }) => {
  if (!Array.isArray(sent)) return invalid('payload', 'must be a list of devices')
  return becomeOf(
    fromEach<unknown>(sent, (device) => (isRecord(device) ? ofDevice(device, receivedAtMs) : [])),
  )
})

function ofDevice(device: JsonObject, at: number): readonly Wish[] {
  const { friendly_name: name, ieee_address: address, definition, type } = device
  if (typeof name !== 'string' || name === '' || type === 'Coordinator') return []
  const { model, vendor } = isRecord(definition) ? definition : {}
  const said = { title: name, ids: { ieee_address: address }, facts: { model, vendor } }
  return [described(entityIdOf(name), at, said)]
}

const TOLD = ['device_joined', 'device_leave']

const happened = object(({ type, data }, { receivedAtMs }) => {
  const name = isRecord(data) ? data['friendly_name'] : undefined
  if (typeof type !== 'string') return invalid('type', 'must be a text')
  if (!TOLD.includes(type)) return become()
  if (typeof name !== 'string') return invalid('data.friendly_name', 'must be a text')
  return become(note(entityIdOf(name), receivedAtMs, `${name}: ${type}`, { tags: [BRIDGE] }))
})

const logged = object(({ level: severity, message: body }, { receivedAtMs: at }) =>
  severity === 'error' && typeof body === 'string'
    ? become(message({ title: 'Zigbee2MQTT', body, thing_id: BRIDGE, occurred_at: at }))
    : become(),
)

export const ZIGBEE2MQTT: readonly Row[] = [
  { topic: `${BRIDGE}/bridge/state`, read: availabilityOf(() => BRIDGE) },
  { topic: `${BRIDGE}/bridge/devices`, read: list },
  { topic: `${BRIDGE}/bridge/event`, read: happened },
  { topic: `${BRIDGE}/bridge/logging`, read: logged },
  { topic: `${BRIDGE}/bridge/#rest`, read: nothing },
  { topic: `${BRIDGE}/#device/availability`, read: availabilityOf(deviceOf) },
  { topic: `${BRIDGE}/#device/set`, read: nothing },
  { topic: `${BRIDGE}/#device/get`, read: nothing },
  { topic: `${BRIDGE}/#device/set/+attr`, read: nothing },
  { topic: `${BRIDGE}/#device`, read: report },
]
