// Tasmota: `tele/<topic>/SENSOR` and its kind, also where the full topic is in another order.

import { isFault } from '#domain/fault'
import { isRecord } from '#domain/record'
import { entityIdOf } from './entity-name.ts'
import { level, nothing, object, scalar, value } from './family.ts'
import type { Row } from './family.ts'
import { timeOf } from './payload.ts'
import { described, attrs, attrsOfValue, fromEach, oneAttr, become } from './wishes.ts'

const availability = scalar((online, received) =>
  typeof online === 'boolean'
    ? become(...attrs(entityIdOf(level(received, 'topic')), received.receivedAtMs, { online }))
    : undefined,
)

/** Everything else: a bridge reports the devices behind it under their addresses. */
const report = value((sent, received) => {
  const { topic = '', kind = '' } = received.levels
  const thingId = entityIdOf(topic)
  if (!isRecord(sent)) return become(...attrs(thingId, received.receivedAtMs, oneAttr(kind, sent)))
  const { Time: time, ZbReceived: behind, ...own } = sent
  const at = timeOf(time, received.receivedAtMs)
  const devices = isRecord(behind) ? Object.entries(behind) : []
  const others = fromEach(devices, ([address, values]) =>
    attrs(entityIdOf(address), at, isRecord(values) ? attrsOfValue(values, kind) : {}),
  )
  if (isFault(others)) return others
  return become(...attrs(thingId, at, attrsOfValue(own, kind)), ...others)
})

/** What a device says of itself once, so that others can find it. */
const discovery = object((sent, received) => {
  const { t: topic, dn: name, md: model, sw: version, ip, mac } = sent
  if (typeof topic !== 'string') return undefined
  const said = { title: name, ids: { mac }, facts: { model, version, ip } }
  return become(described(entityIdOf(topic), received.receivedAtMs, said))
})

const UPPER_CASE = { kind: '[A-Z][A-Z0-9_]*' }
const TOPICS = [
  'tele/#topic/',
  'stat/#topic/',
  'tasmota/#topic/tele/',
  'tasmota/#topic/stat/',
  '#topic/tele/',
  '#topic/stat/',
]

export const TASMOTA: readonly Row[] = [
  { topic: 'tasmota/discovery/+mac/config', read: discovery },
  { topic: 'tasmota/discovery/+mac/sensors', read: nothing },
  ...TOPICS.flatMap((topic) => [
    { topic: `${topic}LWT`, read: availability },
    { topic: `${topic}+kind`, where: UPPER_CASE, read: report },
  ]),
]
