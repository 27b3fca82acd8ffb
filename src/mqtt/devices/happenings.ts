// What happens to a device and is over: Messages and Events of families whose values are read by
// mappings (built-in.ts).

import { isFault } from '#domain/fault'
import { isRecord } from '#domain/record'
import { invalid } from '#src/schemas/values'
import { entityIdOf } from './entity-name.ts'
import { json, level, object } from './family.ts'
import type { Received } from './family.ts'
import { selfOf } from './mapped.ts'
import { flattened, timeOf } from './payload.ts'
import type { Wish } from './publish.ts'
import { attrs, become, becomeOf, event, fromEach, message, note } from './wishes.ts'

const ZIGBEE2MQTT = 'zigbee2mqtt'
const ZIGBEE_DEVICE = {
  device: 'friendly_name',
  title: 'friendly_name',
  ids: ['ieee_address'],
  facts: { model: 'definition.model', vendor: 'definition.vendor' },
}

export const zigbeeDevices = json((sent, { receivedAtMs }) => {
  if (!Array.isArray(sent)) return invalid('payload', 'must be a list of devices')
  return becomeOf(
    fromEach<unknown>(sent, (said) => {
      if (!isRecord(said) || said['type'] === 'Coordinator') return []
      const wish = selfOf(said['friendly_name'], { sent: said, at: receivedAtMs }, ZIGBEE_DEVICE)
      return isFault(wish) ? [] : [wish]
    }),
  )
})

const TOLD = ['device_joined', 'device_leave']

export const zigbeeJoined = object(({ type, data }, { receivedAtMs }) => {
  const name = isRecord(data) ? data['friendly_name'] : undefined
  if (typeof type !== 'string') return invalid('type', 'must be a text')
  if (!TOLD.includes(type)) return become()
  if (typeof name !== 'string') return invalid('data.friendly_name', 'must be a text')
  return become(note(entityIdOf(name), receivedAtMs, `${name}: ${type}`, { tags: [ZIGBEE2MQTT] }))
})

export const zigbeeError = object(({ level: severity, message: body }, { receivedAtMs: at }) =>
  severity === 'error' && typeof body === 'string'
    ? become(message({ title: 'Zigbee2MQTT', body, thing_id: ZIGBEE2MQTT, occurred_at: at }))
    : become(),
)

/** A notification is an overlay: what it leaves out stays, and null removes. */
export const shellyNotification = object(({ method, params }, received) => {
  if (typeof method !== 'string') return invalid('method', 'must be a text')
  if (!isRecord(params)) return invalid('params', 'must be an object')
  const { ts, ...rest } = params
  const at = timeOf(ts, received.receivedAtMs)
  const thingId = entityIdOf(level(received, 'prefix'))
  if (method !== 'NotifyEvent') return become(...attrs(thingId, at, flattened(rest)))
  const { events } = rest
  if (!Array.isArray(events)) return invalid('params.events', 'must be a list')
  return becomeOf(fromEach<unknown>(events, (happened) => ofComponent(happened, at, received)))
})

/** What happens to a component is a Message; what the system tells of itself is not kept. */
function ofComponent(happened: unknown, at: number, received: Received): readonly Wish[] {
  const { component, event: what, ts } = isRecord(happened) ? happened : {}
  if (typeof component !== 'string' || typeof what !== 'string' || component === 'sys') return []
  const prefix = level(received, 'prefix')
  const metadata = { component, event: what }
  return [note(entityIdOf(prefix), timeOf(ts, at), `${prefix} ${component}: ${what}`, { metadata })]
}

const FRIGATE_ACTIONS = { new: 'create', update: 'update', end: 'close' } as const

const isKnown = (type: unknown): type is keyof typeof FRIGATE_ACTIONS =>
  typeof type === 'string' && Object.hasOwn(FRIGATE_ACTIONS, type)

/** What a camera sees is an Event, from its first frame to its last. */
export const frigateEvent = object(({ type, after }, { receivedAtMs }) => {
  if (!isKnown(type)) return invalid('type', 'must be new, update or end')
  if (!isRecord(after)) return invalid('after', 'must be an object')
  const { id, camera, label, frame_time: frame, start_time: start, end_time: end } = after
  if (typeof id !== 'string' || id === '') return invalid('after.id', 'must be a text')
  if (typeof camera !== 'string' || camera === '') return invalid('after.camera', 'must be a text')
  const { score, top_score, current_zones, has_snapshot } = after
  const facts = { label, score, top_score, current_zones, has_snapshot }
  const action = FRIGATE_ACTIONS[type]
  const ended = timeOf(end, receivedAtMs)
  return become(
    event(entityIdOf(id), action === 'close' ? ended : timeOf(frame, receivedAtMs), {
      action,
      thing_id: entityIdOf(camera),
      title: `${typeof label === 'string' ? label : 'object'} at ${camera}`,
      ...(action === 'create' && { started_at: timeOf(start, receivedAtMs) }),
      ...(action === 'close' && { ended_at: ended }),
      attrs: Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== undefined)),
    }),
  )
})
