// LoRaWAN servers, which a bridge reads: The Things Stack and ChirpStack 4.

import { isRecord } from '#domain/record'
import { invalid } from '#src/schemas/values'
import { entityIdOf } from './entity-name.ts'
import { level, nothing, object } from './family.ts'
import type { Received, Row } from './family.ts'
import { flattened, timeOf, valueAt } from './payload.ts'
import type { JsonObject } from './payload.ts'
import type { Wish } from './publish.ts'
import { described, message, become, thing } from './wishes.ts'

/** The location of a solved position; none without both numbers. */
function locationOf(sent: unknown): JsonObject | undefined {
  const { latitude, longitude } = isRecord(sent) ? sent : {}
  return typeof latitude === 'number' && typeof longitude === 'number'
    ? { location_type: 'geo', location_value: `${latitude},${longitude}` }
    : undefined
}

// The Things Stack leaves out members that are empty, zero or false.

const ofStack = (received: Received, sent: JsonObject) => ({
  thingId: entityIdOf(level(received, 'device')),
  at: timeOf(sent['received_at'], received.receivedAtMs),
  ids: { dev_eui: valueAt(sent, ['end_device_ids', 'dev_eui']) },
})

const stackUp = object((sent, received) => {
  const { thingId, at, ids } = ofStack(received, sent)
  const uplink = sent['uplink_message']
  if (!isRecord(uplink)) return invalid('uplink_message', 'must be an object')
  const { decoded_payload: decoded, frm_payload: payload } = uplink
  const facts = isRecord(decoded) ? decoded : { frm_payload: payload }
  return become(described(thingId, at, { ids, facts }))
})

const stackJoin = object((sent, received) => {
  const { thingId, at, ids } = ofStack(received, sent)
  const facts = { dev_addr: valueAt(sent, ['end_device_ids', 'dev_addr']) }
  return become(described(thingId, at, { ids, facts }))
})

const stackLocation = object((sent, received) => {
  const { thingId, at } = ofStack(received, sent)
  const location = locationOf(valueAt(sent, ['location_solved', 'location']))
  if (location === undefined) return invalid('location_solved.location', 'must be a position')
  return become(thing(thingId, at, location))
})

const stackFailed = object((sent, received) => {
  const { thingId, at } = ofStack(received, sent)
  const body = valueAt(sent, ['downlink_failed', 'error', 'message_format'])
  const title = `${level(received, 'device')}: downlink failed`
  const told = typeof body === 'string' ? { title, body } : { title }
  return become(message({ ...told, thing_id: thingId, occurred_at: at }))
})

// ChirpStack names each event, so that one which comes twice is one.

const named = ({ deduplicationId: key }: JsonObject, wish: Wish): Wish =>
  typeof key === 'string' && /^[\w:-]{1,64}$/.test(key) ? { ...wish, repeatKey: key } : wish

const chirp = (
  then: (sent: JsonObject, of: { thingId: string; at: number; said: Said }) => Wish | undefined,
) =>
  object((sent, received) => {
    const device = level(received, 'device')
    const title = valueAt(sent, ['deviceInfo', 'deviceName'])
    const of = {
      thingId: entityIdOf(device),
      at: timeOf(sent['time'], received.receivedAtMs),
      said: { title, ids: { dev_eui: device } },
    }
    const wish = then(sent, of)
    return wish === undefined ? become() : become(named(sent, wish))
  })

interface Said {
  readonly title: unknown
  readonly ids: JsonObject
}

const chirpUp = chirp(({ object: decoded, data }, { thingId, at, said }) =>
  described(thingId, at, { ...said, facts: isRecord(decoded) ? decoded : { data } }),
)

const chirpStatus = chirp((sent, { thingId, at, said }) => {
  const { deduplicationId: _key, time: _time, deviceInfo: _device, ...facts } = sent
  return described(thingId, at, { ...said, facts: flattened(facts) })
})

const chirpJoin = chirp(({ devAddr }, { thingId, at, said }) =>
  described(thingId, at, { ...said, facts: { devAddr } }),
)

const chirpLocation = chirp(({ location: sent }, { thingId, at }) => {
  const location = locationOf(sent)
  return location && thing(thingId, at, location)
})

/** A line of the server's log about a device: errors are worth a Message. */
const chirpLog = chirp((sent, { thingId, at, said }) => {
  if (sent['level'] !== 'ERROR') return undefined
  const { code } = sent
  const what = typeof code === 'string' || typeof code === 'number' ? code : 'ERROR'
  const title = `${typeof said.title === 'string' ? said.title : thingId}: ${what}`
  const body = typeof sent['description'] === 'string' ? sent['description'] : ''
  return message({ title, body, thing_id: thingId, occurred_at: at })
})

const STACK = 'v3/+app/devices/+device'
const CHIRP = 'application/+app/device/+device/event'

export const LORAWAN: readonly Row[] = [
  { topic: `${STACK}/up`, read: stackUp },
  { topic: `${STACK}/join`, read: stackJoin },
  { topic: `${STACK}/location/solved`, read: stackLocation },
  { topic: `${STACK}/down/failed`, read: stackFailed },
  { topic: `${STACK}/down/+step`, read: nothing },
  { topic: `${CHIRP}/up`, read: chirpUp },
  { topic: `${CHIRP}/status`, read: chirpStatus },
  { topic: `${CHIRP}/join`, read: chirpJoin },
  { topic: `${CHIRP}/location`, read: chirpLocation },
  { topic: `${CHIRP}/log`, read: chirpLog },
  { topic: `${CHIRP}/+step`, read: nothing },
]
