// Reads CONNECT: what the client asks for, or why it is refused before its credentials are checked.

import { isKeyForm } from '#domain/identity'
import type { ConnectPacket, ProtocolLevel } from './codec.ts'
import { WILL_BYTES_MAX } from './bounds.ts'
import { REASON } from './reasons.ts'
import type { ConnectRefusal } from './reasons.ts'
import type { Publication } from './publishes.ts'

/** Credentials of a session: a secret. */
export interface SessionCredentials {
  /** The user name: a channel_id, or a key when there is no password. */
  readonly userName: string
  readonly password: string | undefined
}

export interface Will extends Publication {
  /** Milliseconds from the end of the connection to the publish. */
  readonly delayMs: number
}

/** What a client asks for, checked and with every default in its place. */
export interface Opening {
  readonly level: ProtocolLevel
  /** Chosen by the client; '' when the gateway makes one. */
  readonly clientId: string
  readonly credentials: SessionCredentials
  /** True when the session before this one is forgotten. */
  readonly isClean: boolean
  /** Milliseconds for which the session is kept behind its connection; Infinity for no end. */
  readonly keptMs: number
  /** Milliseconds of silence after which the connection ends; Infinity for none. */
  readonly silenceMs: number
  readonly will: Will | undefined
  /** Publishes at QoS 1 that the client takes unacknowledged. */
  readonly receiveMax: number
  /** Bytes of a packet that the client takes. */
  readonly packetBytesMax: number
  readonly topicAliasMax: number
  /** False: reasons in words are for CONNACK and DISCONNECT only. */
  readonly wantsReasons: boolean
}

const CLIENT_ID_BYTES_MAX = 256
/** Bytes of a user name and of a password: twice those of the longest one that opens anything. */
const CREDENTIAL_BYTES_MAX = 256
const KEEP_ALIVE_SHARE = 1.5
const FOREVER_SECONDS = 0xffffffff

const WRONG_LEVEL: ConnectRefusal = { reasonCode: REASON.protocolError, returnCode: 1 }
const BAD_ID: ConnectRefusal = { reasonCode: REASON.clientIdInvalid, returnCode: 2 }
const BAD_METHOD: ConnectRefusal = { reasonCode: REASON.badAuthenticationMethod, returnCode: 5 }
const LARGE_WILL: ConnectRefusal = {
  reasonCode: REASON.packetTooLarge,
  returnCode: 5,
  detail: `a will has ${WILL_BYTES_MAX} bytes at most, topic and payload`,
}
const BAD_CREDENTIALS: ConnectRefusal = { reasonCode: REASON.badCredentials, returnCode: 4 }

/** Reads a CONNECT; a refusal has a `returnCode`. */
export function readConnect(packet: ConnectPacket): Opening | ConnectRefusal {
  const { protocolVersion, clientId, clean, keepalive = 0, properties = {} } = packet
  if (protocolVersion !== 4 && protocolVersion !== 5) return WRONG_LEVEL
  const isFive = protocolVersion === 5
  if (Buffer.byteLength(clientId) > CLIENT_ID_BYTES_MAX) return BAD_ID
  if (clientId === '' && clean !== true && !isFive) return BAD_ID
  if (properties.authenticationMethod !== undefined) return BAD_METHOD
  const { username: userName = '', password } = packet
  const isLong = Math.max(userName.length, password?.length ?? 0) > CREDENTIAL_BYTES_MAX
  if (userName === '' || isLong) return BAD_CREDENTIALS
  const will = willOf(packet)
  if (will !== undefined && bytesOf(will) > WILL_BYTES_MAX) return LARGE_WILL
  const isClean = clean === true
  const keptSeconds = isFive
    ? (properties.sessionExpiryInterval ?? 0)
    : isClean
      ? 0
      : FOREVER_SECONDS
  return {
    level: protocolVersion,
    clientId,
    credentials: { userName, password: passwordOf(userName, password?.toString().trim()) },
    isClean,
    keptMs: keptMsOf(keptSeconds),
    silenceMs: keepalive === 0 ? Infinity : keepalive * 1_000 * KEEP_ALIVE_SHARE,
    will,
    receiveMax: properties.receiveMaximum ?? 0xffff,
    packetBytesMax: properties.maximumPacketSize ?? Infinity,
    topicAliasMax: properties.topicAliasMaximum ?? 0,
    wantsReasons: properties.requestProblemInformation !== false,
  }
}

/** Devices with one field for a key send an empty password beside it. */
const passwordOf = (userName: string, password: string | undefined): string | undefined =>
  password === '' && isKeyForm(userName) ? undefined : password

/** Milliseconds of a session expiry interval; Infinity for no end. */
export const keptMsOf = (seconds: number): number =>
  seconds === FOREVER_SECONDS ? Infinity : seconds * 1_000

const bytesOf = ({ topic, payload }: Will): number => Buffer.byteLength(topic) + payload.length

function willOf({ will }: ConnectPacket): Will | undefined {
  if (will === undefined) return undefined
  const { topic, payload, qos = 0, properties = {} } = will
  return {
    topic,
    payload: new Uint8Array(Buffer.from(payload)), // A copy of its own, not a part of a larger one.
    qos,
    packetId: 0,
    isRepeat: false,
    opId: undefined,
    expirySeconds: properties.messageExpiryInterval,
    delayMs: (properties.willDelayInterval ?? 0) * 1_000,
  }
}
