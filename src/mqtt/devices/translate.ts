// The entry of the folder: what a publish becomes.
//
// Invariants:
//   translate/1. One publish becomes at most WISHES_MAX submissions, none larger than a body, and
//                all together at most PUBLISH_BYTES_MAX.
//   translate/2. Of a key that may not send nothing is read; a topic beyond its bounds is compared
//                with nothing.
//   translate/3. The state learns nothing of a publish before every check of this folder, and
//                forgets what it has learnt when the publish is refused afterwards.

import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Json } from '#domain/submission'
import { isRecord } from '#domain/record'
import { scopeRefusal } from '#src/acceptance/key-rights'
import { refusalOfTree } from '#src/schemas/json/tree'
import { ESPHOME, FRIGATE, SHELLY, TASMOTA, ZIGBEE2MQTT } from './built-in.ts'
import { tableOf } from './family.ts'
import type { Read, Received, Row } from './family.ts'
import { NO_STATE } from './family-state.ts'
import { DISCOVERED, HOME_ASSISTANT } from './home-assistant.ts'
import { HOMIE } from './homie.ts'
import { LORAWAN } from './lorawan.ts'
import { readMapped } from './mapped.ts'
import type { Connection, Publish, Translation, Wish } from './publish.ts'
import { SESSION_TOPICS } from './session-topics.ts'
import { SPARKPLUG } from './sparkplug.ts'
import { THINGSBOARD } from './thingsboard.ts'
import { topicLevelsOf } from './topic.ts'
import { TOO_MANY, WISHES_MAX } from './wishes.ts'

// Every family of devices whose topics the gateway knows. The first row that takes a publish reads
// it; rows that begin with a word of their own are tried before rows that begin with any level.

const FAMILIES: readonly Row[] = [
  ...TASMOTA,
  ...ZIGBEE2MQTT,
  ...LORAWAN,
  ...THINGSBOARD,
  ...FRIGATE,
  ...SPARKPLUG,
  ...HOME_ASSISTANT,
  ...HOMIE,
  ...ESPHOME,
  ...SHELLY,
  ...DISCOVERED,
]

/** The largest body of a request, which a submission would be otherwise. (Specification: Limits) */
const WISH_BYTES_MAX = 32_768
/** The bytes of all submissions of one publish. */
export const PUBLISH_BYTES_MAX = 4 * 2 ** 20

const NO_TOPIC = fault('route_not_found', { field: 'topic', detail: 'this is no topic' })
const TOO_LARGE = fault('body_too_large', { field: 'payload' })

const readOwn = tableOf(SESSION_TOPICS)
const readFamilies = tableOf(FAMILIES)

/**
 * Reads one publish by the topics of the gateway, the channel's own mappings and the tables of the
 * families, in this order. A Fault says what is wrong with it, `undefined` that nothing takes the
 * topic; the connection's state then stays as it is.
 */
export function translate(
  publish: Publish,
  connection: Connection,
): Answer<Translation> | undefined {
  const { key } = connection.sender
  const unsendable = key && scopeRefusal(key, 'send')
  if (unsendable !== undefined) return unsendable // translate/2
  const read = readBy(publish, connection)
  if (read === undefined || isFault(read)) return read
  const { wishes = [], replies = [], discovered, learn } = read
  const refusal = refusalOf(wishes, publish)
  if (refusal !== undefined) return refusal
  const kept = publish.isKeptCopy === true ? wishes.filter(isOfThing) : wishes
  const forget = learn?.() // translate/3
  return {
    wishes: kept,
    replies,
    ...(discovered !== undefined && { discovered }),
    ...(forget !== undefined && { forget }),
  }
}

function readBy(publish: Publish, connection: Connection): Answer<Read> | undefined {
  const topicLevels = topicLevelsOf(publish.topic)
  if (topicLevels === undefined) return NO_TOPIC // translate/2
  const readOther = (topic: string, payload: Uint8Array) =>
    readBy({ ...publish, topic, payload }, { ...connection, state: NO_STATE })
  const received = { ...publish, ...connection, topicLevels, levels: {}, readOther }
  return readOwn(received) ?? readByMapping(received) ?? readFamilies(received)
}

const isOfThing = ({ intent }: Wish): boolean => intent.model === 'thing'

function readByMapping(received: Received): Answer<Read> | undefined {
  for (const mapping of received.sender.mappings) {
    const levels = mapping.pattern.match(received.topicLevels)
    if (levels !== undefined) return readMapped(mapping, { ...received, levels })
  }
  return undefined
}

/** translate/1 */
function refusalOf(wishes: readonly Wish[], { payload }: Publish): Fault | undefined {
  if (wishes.length > WISHES_MAX) return TOO_MANY
  const [only] = wishes
  // Acceptance checks the values of one submission; of several, none is taken when one cannot be.
  if (wishes.length === 1 && only !== undefined && isSurelySmall(only, payload)) return undefined
  let bytes = 0
  for (const { fields } of wishes) {
    for (const [name, value] of Object.entries(fields)) {
      const refusal = refusalOfTree(name, value as Json)
      if (refusal !== undefined) return refusal
    }
    const size = Buffer.byteLength(JSON.stringify(fields))
    bytes += size
    if (size > WISH_BYTES_MAX || bytes > PUBLISH_BYTES_MAX) return TOO_LARGE
  }
  return undefined
}

const SMALL_BYTES = 1_024
const SMALL_NAMES_MAX = 4_096

/** True for a submission that is within its limit without a look at each of its values. */
function isSurelySmall({ fields }: Wish, payload: Uint8Array): boolean {
  if (payload.length >= SMALL_BYTES) return false
  const attrs = fields['attrs']
  if (!isRecord(attrs)) return true
  let characters = 0
  // Only names are longer than what was sent: they repeat those around them, or a prefix.
  for (const name of Object.keys(attrs)) characters += name.length
  return characters <= SMALL_NAMES_MAX
}
