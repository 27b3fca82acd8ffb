// The device API of ThingsBoard, over MQTT and in the bodies of its HTTP routes.

import type { Answer } from '#domain/ports'
import { isRecord } from '#domain/record'
import { invalid } from '#src/schemas/values'
import { entityIdOf } from './entity-name.ts'
import { json, nothing, object } from './family.ts'
import type { Received, Row } from './family.ts'
import { flattened, timeOf } from './payload.ts'
import type { Wish } from './publish.ts'
import { described, attrs, become, becomeOf, fromEach } from './wishes.ts'

interface Target {
  readonly thingId: string
  readonly receivedAtMs: number
  /** The member of the payload that is read, for refusals. */
  readonly field: string
}

/** Values, values with a time, or a list of either: one submission for each time. */
function telemetryOf(sent: unknown, target: Target): Answer<readonly Wish[]> {
  if (!Array.isArray(sent)) return valuesOf(sent, target)
  return fromEach<unknown>(sent, (item, index) =>
    valuesOf(item, { ...target, field: `${target.field}[${index}]` }),
  )
}

function valuesOf(
  sent: unknown,
  { thingId, receivedAtMs, field }: Target,
): Answer<readonly Wish[]> {
  if (!isRecord(sent)) return invalid(field, 'must be an object')
  if (!('ts' in sent && 'values' in sent)) return attrs(thingId, receivedAtMs, flattened(sent))
  const { ts, values } = sent
  if (!isRecord(values)) return invalid(`${field}.values`, 'must be an object')
  return attrs(thingId, timeOf(ts, receivedAtMs), flattened(values))
}

/** Telemetry or attributes of the client itself. */
const own = json((sent, { sender, receivedAtMs }) =>
  becomeOf(telemetryOf(sent, { thingId: sender.thingId, receivedAtMs, field: 'payload' })),
)

/** Telemetry or attributes of devices behind the client, by their names. */
const behind = object((sent, { receivedAtMs }: Received) =>
  becomeOf(
    fromEach(Object.entries(sent), ([name, telemetry]) =>
      telemetryOf(telemetry, {
        thingId: entityIdOf(name),
        receivedAtMs,
        field: `payload.${name}`,
      }),
    ),
  ),
)

const connection = (online: boolean) =>
  object(({ device }, { receivedAtMs }) =>
    typeof device !== 'string' || device === ''
      ? invalid('device', 'must be a text')
      : become(described(entityIdOf(device), receivedAtMs, { title: device, facts: { online } })),
  )

export const THINGSBOARD: readonly Row[] = [
  { topic: 'v1/devices/me/telemetry', read: own },
  { topic: 'v1/devices/me/attributes', read: own },
  { topic: 'v1/devices/me/attributes/request/+id', read: nothing },
  { topic: 'v1/devices/me/rpc/#rest', read: nothing },
  { topic: 'v2/t', read: own },
  { topic: 'v2/a', read: own },
  { topic: 'v1/gateway/telemetry', read: behind },
  { topic: 'v1/gateway/attributes', read: behind },
  { topic: 'v1/gateway/connect', read: connection(true) },
  { topic: 'v1/gateway/disconnect', read: connection(false) },
]
