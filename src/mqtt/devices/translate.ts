// The entry of the folder: what a publish becomes.
//
// Invariants:
//   translate/1. One publish becomes at most WISHES_MAX submissions, none larger than a body.

import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Json } from '#domain/submission'
import { refusalOfTree } from '#src/schemas/json/tree'
import { invalid } from '#src/schemas/values'
import { ESPHOME } from './esphome.ts'
import { tableOf } from './family.ts'
import type { Read, Received, Row } from './family.ts'
import { NO_STATE } from './family-state.ts'
import { FRIGATE_TOPICS } from './frigate.ts'
import { DISCOVERED, HOME_ASSISTANT } from './home-assistant.ts'
import { HOMIE } from './homie.ts'
import { LORAWAN } from './lorawan.ts'
import { readMapped } from './mapped.ts'
import type { Connection, Publish, Translation, Wish } from './publish.ts'
import { SESSION_TOPICS } from './session-topics.ts'
import { SHELLY } from './shelly.ts'
import { SPARKPLUG } from './sparkplug.ts'
import { TASMOTA } from './tasmota.ts'
import { THINGSBOARD } from './thingsboard.ts'
import { ZIGBEE2MQTT } from './zigbee2mqtt.ts'

// Every family of devices whose topics the gateway knows. The first row that takes a publish reads
// it; rows that begin with a word of their own are tried before rows that begin with any level.

const FAMILIES: readonly Row[] = [
  ...TASMOTA,
  ...ZIGBEE2MQTT,
  ...LORAWAN,
  ...THINGSBOARD,
  ...FRIGATE_TOPICS,
  ...SPARKPLUG,
  ...HOME_ASSISTANT,
  ...HOMIE,
  ...ESPHOME,
  ...SHELLY,
  ...DISCOVERED,
]

/** The most submissions that one publish may become. */
export const WISHES_MAX = 1_000
/** The largest body of a request, which a submission would be otherwise. (Specification: Limits) */
const WISH_BYTES_MAX = 32_768

const readOwn = tableOf(SESSION_TOPICS)
const readFamilies = tableOf(FAMILIES)

/**
 * Reads one publish by the topics of the gateway, the channel's own mappings and the tables of the
 * families, in this order. A Fault says what is wrong with the payload, `undefined` that nothing
 * takes the topic; the connection's state then stays as it is.
 */
export function translate(
  publish: Publish,
  connection: Connection,
): Answer<Translation> | undefined {
  const read = readBy(publish, connection)
  if (read === undefined || isFault(read)) return read
  const { wishes = [], replies = [], state = connection.state } = read
  const refusal = refusalOf(wishes, publish) // translate/1
  if (refusal !== undefined) return refusal
  const kept = publish.isKeptCopy === true ? wishes.filter(isOfThing) : wishes
  return { wishes: kept, replies, state }
}

function readBy(publish: Publish, connection: Connection): Answer<Read> | undefined {
  const readOther = (topic: string, payload: Uint8Array) =>
    readBy({ ...publish, topic, payload }, { ...connection, state: NO_STATE })
  const received = { ...publish, ...connection, levels: {}, readOther }
  return readOwn(received) ?? readByMapping(received) ?? readFamilies(received)
}

const isOfThing = ({ intent }: Wish): boolean => intent.model === 'thing'

function readByMapping(received: Received): Answer<Read> | undefined {
  for (const mapping of received.sender.mappings) {
    const levels = mapping.pattern.match(received.topic)
    if (levels !== undefined) return readMapped(mapping, { ...received, levels })
  }
  return undefined
}

function refusalOf(wishes: readonly Wish[], { payload }: Publish): Fault | undefined {
  if (wishes.length > WISHES_MAX) {
    return invalid('payload', `must be at most ${WISHES_MAX} submissions`)
  }
  // Acceptance checks the values of one submission; of several, none is taken when one cannot be.
  if (wishes.length <= 1 && payload.length < SMALL_BYTES) return undefined
  for (const { fields } of wishes) {
    for (const [name, value] of Object.entries(fields)) {
      const refusal = refusalOfTree(name, value as Json)
      if (refusal !== undefined) return refusal
    }
    if (Buffer.byteLength(JSON.stringify(fields)) > WISH_BYTES_MAX) {
      return fault('body_too_large', { field: 'payload' })
    }
  }
  return undefined
}

/** A smaller payload makes no submission beyond its limit, however long the names of its attrs. */
const SMALL_BYTES = 1_024
