// Rules of MQTT for packets of a client that the library reads without a word.

import type { Packet, ProtocolLevel } from './codec.ts'
import { REASON } from './reasons.ts'
import type { ReasonCode } from './reasons.ts'

const OF_MESSAGES = [
  'payloadFormatIndicator',
  'messageExpiryInterval',
  'contentType',
  'responseTopic',
  'correlationData',
  'userProperties',
]
const OF_ANSWERS = ['reasonString', 'userProperties']

/** The properties that a client may send, by the kind of packet. (MQTT 5, 2.2.2.2) */
const PROPERTIES: Readonly<Record<string, readonly string[]>> = {
  connect: [
    'sessionExpiryInterval',
    'receiveMaximum',
    'maximumPacketSize',
    'topicAliasMaximum',
    'requestResponseInformation',
    'requestProblemInformation',
    'userProperties',
    'authenticationMethod',
    'authenticationData',
  ],
  publish: [...OF_MESSAGES, 'topicAlias'],
  puback: OF_ANSWERS,
  pubrec: OF_ANSWERS,
  pubrel: OF_ANSWERS,
  pubcomp: OF_ANSWERS,
  subscribe: ['subscriptionIdentifier', 'userProperties'],
  unsubscribe: ['userProperties'],
  disconnect: ['sessionExpiryInterval', 'reasonString', 'userProperties'],
  auth: ['authenticationMethod', 'authenticationData', 'reasonString', 'userProperties'],
}
const OF_WILLS = [...OF_MESSAGES, 'willDelayInterval']

/** The bytes behind the header of packets that have no more, in each version and in 3.1.1. */
const BYTES: Readonly<Record<string, number>> = { pingreq: 0 }
const BYTES_OF_3: Readonly<Record<string, number>> = {
  disconnect: 0,
  puback: 2,
  pubrec: 2,
  pubrel: 2,
  pubcomp: 2,
}

const hasOthers = (sent: object | undefined, known: readonly string[] = []): boolean =>
  sent !== undefined && Object.keys(sent).some((name) => !known.includes(name))

/** The reason for which a packet ends its connection; undefined for a good one. */
export function violationOf(packet: Packet, level: ProtocolLevel): ReasonCode | undefined {
  const { cmd } = packet
  const bytes = BYTES[cmd] ?? (level === 4 ? BYTES_OF_3[cmd] : undefined)
  if (bytes !== undefined && (packet.length ?? bytes) !== bytes) return REASON.malformedPacket
  if (cmd === 'publish' && packet.qos === 0 && packet.dup) return REASON.malformedPacket
  // The library gives -1 for an id that is cut off.
  if (packet.messageId !== undefined && packet.messageId <= 0) return REASON.protocolError
  const sent = 'properties' in packet ? packet.properties : undefined
  if (hasOthers(sent, PROPERTIES[cmd])) return REASON.malformedPacket
  const will = cmd === 'connect' ? packet.will?.properties : undefined
  return hasOthers(will, OF_WILLS) ? REASON.malformedPacket : undefined
}
