// Shelly: RPC notifications and statuses of Gen2 and later, plain values of Gen1.

import { isRecord } from '#domain/record'
import { invalid } from '#src/schemas/values'
import { entityIdOf } from './entity-name.ts'
import { level, nothing, object, scalar, value } from './family.ts'
import type { Received, Row } from './family.ts'
import { flattened, timeOf } from './payload.ts'
import type { Wish } from './publish.ts'
import {
  described,
  attrs,
  attrsOfValue,
  fromEach,
  note,
  oneAttr,
  become,
  becomeOf,
} from './wishes.ts'

const thingOf = (received: Received): string => entityIdOf(level(received, 'prefix'))

const online = scalar((sent, received) =>
  typeof sent === 'boolean'
    ? become(...attrs(thingOf(received), received.receivedAtMs, { online: sent }))
    : undefined,
)

/** A notification is an overlay: what it leaves out stays, and null removes. */
const notification = object(({ method, params }, received) => {
  if (typeof method !== 'string') return invalid('method', 'must be a text')
  if (!isRecord(params)) return invalid('params', 'must be an object')
  const { ts, ...rest } = params
  const at = timeOf(ts, received.receivedAtMs)
  if (method !== 'NotifyEvent') return become(...attrs(thingOf(received), at, flattened(rest)))
  const { events } = rest
  if (!Array.isArray(events)) return invalid('params.events', 'must be a list')
  return becomeOf(fromEach<unknown>(events, (happened) => ofEvent(happened, at, received)))
})

/** What happens to a component is a Message; what the system tells of itself is not kept. */
function ofEvent(happened: unknown, at: number, received: Received): readonly Wish[] {
  const { component, event, ts } = isRecord(happened) ? happened : {}
  if (typeof component !== 'string' || typeof event !== 'string' || component === 'sys') return []
  const title = `${level(received, 'prefix')} ${component}: ${event}`
  return [note(thingOf(received), timeOf(ts, at), title, { metadata: { component, event } })]
}

const status = object((sent, received) =>
  become(
    ...attrs(
      thingOf(received),
      received.receivedAtMs,
      flattened(sent, { prefix: `${level(received, 'component')}.` }),
    ),
  ),
)

const announced = object((sent, { receivedAtMs }) => {
  const { id, mac, ...facts } = sent
  if (typeof id !== 'string' || id === '') return invalid('id', 'must be a text')
  return become(described(entityIdOf(id), receivedAtMs, { ids: { mac }, facts }))
})

/** `relay/0` of Gen1 is the attr `relay.0`. */
const report = value((sent, received) => {
  const name = level(received, 'name').replaceAll('/', '.')
  const values = isRecord(sent)
    ? flattened(attrsOfValue(sent, name), { prefix: `${name}.` })
    : oneAttr(name, sent)
  return become(...attrs(thingOf(received), received.receivedAtMs, values))
})

const COMPONENT = { component: '[a-z][a-z0-9_]*(?::[0-9]+)?' }

export const SHELLY: readonly Row[] = [
  { topic: 'shellies/announce', read: announced },
  { topic: 'shellies/+prefix/announce', read: announced },
  { topic: 'shellies/+prefix/online', read: online },
  { topic: 'shellies/+prefix/#name', read: report },
  { topic: '#prefix/online', read: online },
  { topic: '#prefix/events/rpc', read: notification },
  { topic: '#prefix/status/+component', where: COMPONENT, read: status },
  { topic: '#prefix/rpc', read: nothing },
]
