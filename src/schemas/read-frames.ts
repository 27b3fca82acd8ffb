// Reads frames of the session protocol, from text to the types of frames.ts. It checks every member
// and ignores unknown ones, so that either side may be the newer one.

import { fault } from '#domain/fault'
import { parseChannelId, parseDeviceKey, parseOperationId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { ACTIONS, MODELS, parseEntityId } from '#domain/submission'
import type { Fields } from '#domain/submission'
import { isCount, isRecord } from '#domain/record'
import { GOAWAY_REASONS, HELLO_CURSORS_MAX, PROTOCOL } from './frames.ts'
import type {
  SubscribedChannel,
  Delivery,
  DeviceFrame,
  GatewayFrame,
  Hello,
  PingMark,
  Welcome,
} from './frames.ts'
import { invalid, isSent } from './values.ts'

type Members = Readonly<Record<string, unknown>>

const TOKEN_LENGTH_MAX = 4_096
const CLIENT_LENGTH_MAX = 128
const MARK_LENGTH_MAX = 64

/**
 * A frame of a device. Faults: invalid_json_syntax (not JSON), invalid_json_data (not an object, or
 * a member of the wrong type), validation_failed (unknown type or a bad value). No fault repeats a
 * value.
 */
export function readDeviceFrame(text: string): Answer<DeviceFrame> {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return fault('invalid_json_syntax', { detail: 'the frame is not valid JSON' })
  }
  if (!isRecord(parsed)) return fault('invalid_json_data', { detail: 'a frame is a JSON object' })
  switch (parsed['type']) {
    case 'hello':
      return helloOf(parsed)
    case 'ack':
      return ackOf(parsed)
    case 'ping':
      return { kind: 'ping', mark: markOf(parsed['t']) }
    case 'pong':
      return { kind: 'pong', mark: markOf(parsed['t']) }
    default:
      return fault('validation_failed', { field: 'type', detail: 'the type of frame is unknown' })
  }
}

function helloOf(members: Members): Answer<Hello> {
  const { protocol, device_key, gateway_token, client } = members
  if (isSent(protocol) && protocol !== PROTOCOL) {
    return invalid('protocol', `must be ${PROTOCOL}`)
  }
  if (typeof device_key !== 'string') return wrongType('device_key', 'a text')
  const deviceKey = parseDeviceKey(device_key)
  if (deviceKey === undefined) return invalid('device_key', 'must be 32 lower-case hex digits')
  const gatewayToken = textOf(gateway_token, TOKEN_LENGTH_MAX)
  if (isSent(gateway_token) && gatewayToken === undefined) {
    return invalid('gateway_token', `must be a text of at most ${TOKEN_LENGTH_MAX} characters`)
  }
  const cursors = cursorsOf(members['cursors'])
  if (cursors === undefined) {
    const rule = `must map at most ${HELLO_CURSORS_MAX} channel ids to whole numbers from 0`
    return invalid('cursors', rule)
  }
  const name = textOf(client, CLIENT_LENGTH_MAX)
  return { kind: 'hello', deviceKey, gatewayToken, cursors, client: name }
}

function cursorsOf(value: unknown): ReadonlyMap<ChannelId, number> | undefined {
  const cursors = new Map<ChannelId, number>()
  if (!isSent(value)) return cursors
  if (!isRecord(value)) return undefined
  const pairs = Object.entries(value)
  if (pairs.length > HELLO_CURSORS_MAX) return undefined
  for (const [name, seq] of pairs) {
    const channelId = parseChannelId(name)
    if (channelId === undefined || !isCount(seq)) return undefined
    cursors.set(channelId, seq)
  }
  return cursors
}

function ackOf({ channel_id, seq }: Members): Answer<DeviceFrame> {
  const channelId = channelIdOf(channel_id)
  if (channelId === undefined) return fault('invalid_channel_id', { field: 'channel_id' })
  if (!isCount(seq)) return invalid('seq', 'must be a whole number from 0')
  return { kind: 'ack', channelId, seq }
}

/**
 * A frame of the gateway; undefined for text that is no frame, and for types that this version does
 * not know: a device ignores both.
 */
export function readGatewayFrame(text: string): GatewayFrame | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  return isRecord(parsed) ? gatewayFrameOf(parsed) : undefined
}

function gatewayFrameOf(members: Members): GatewayFrame | undefined {
  switch (members['type']) {
    case 'deliver':
      return deliveryOf(members)
    case 'welcome':
      return welcomeOf(members)
    case 'caught_up':
    case 'gap':
    case 'subscribed':
    case 'unsubscribed':
      return channelFrameOf(members)
    case 'ping':
      return { kind: 'ping', mark: markOf(members['t']) }
    case 'pong':
      return { kind: 'pong', mark: markOf(members['t']) }
    case 'error':
      return errorOf(members)
    case 'goaway':
      return goawayOf(members)
    default:
      return undefined
  }
}

function deliveryOf(members: Members): Delivery | undefined {
  const { seq, delivery_id, model, action, state, rev, accepted_at, payload } = members
  const channelId = channelIdOf(members['channel_id'])
  const opId = typeof members['op_id'] === 'string' ? parseOperationId(members['op_id']) : undefined
  const kept = MODELS.find((name) => name === model)
  const known = ACTIONS.find((name) => name === action)
  if (channelId === undefined || opId === undefined || kept === undefined) return undefined
  const entityId = parseEntityId(kept, members['entity_id'])
  if (entityId === undefined || !isCount(seq) || known === undefined) return undefined
  if (typeof delivery_id !== 'string' || !isCount(accepted_at) || !isFields(payload))
    return undefined
  return {
    kind: 'deliver',
    channelId,
    seq,
    deliveryId: delivery_id,
    opId,
    model: kept,
    action: known,
    entityId,
    state: textOf(state, MARK_LENGTH_MAX),
    rev: isCount(rev) ? rev : undefined,
    acceptedAt: accepted_at,
    payload,
    replay: members['replay'] === true,
  }
}

function welcomeOf(members: Members): Welcome | undefined {
  const { session_id, server_time, heartbeat_ms, idle_ms, max_frame_bytes, channels } = members
  if (typeof session_id !== 'string' || !isCount(server_time) || !Array.isArray(channels)) {
    return undefined
  }
  if (!isCount(heartbeat_ms) || !isCount(idle_ms) || !isCount(max_frame_bytes)) return undefined
  return {
    kind: 'welcome',
    sessionId: session_id,
    serverTime: server_time,
    heartbeatMs: heartbeat_ms,
    idleMs: idle_ms,
    maxFrameBytes: max_frame_bytes,
    channels: channels.flatMap((channel: unknown) => subscribedChannelOf(channel) ?? []),
  }
}

function subscribedChannelOf(value: unknown): SubscribedChannel | undefined {
  if (!isRecord(value)) return undefined
  const { channel_id, channel_name, head_seq, cursor } = value
  const channelId = channelIdOf(channel_id)
  if (channelId === undefined || typeof channel_name !== 'string') return undefined
  if (!isCount(head_seq) || !isCount(cursor)) return undefined
  return { channelId, channelName: channel_name, headSeq: head_seq, cursor }
}

function channelFrameOf(members: Members): GatewayFrame | undefined {
  const { type, seq, from, to, reason } = members
  const channelId = channelIdOf(members['channel_id'])
  if (channelId === undefined) return undefined
  if (type === 'caught_up') return isCount(seq) ? { kind: 'caught-up', channelId, seq } : undefined
  if (type === 'subscribed') {
    const channel = subscribedChannelOf(members)
    return channel === undefined ? undefined : { kind: 'subscribed', ...channel }
  }
  if (type === 'unsubscribed') {
    const isDeleted = reason === 'channel_deleted'
    return { kind: 'unsubscribed', channelId, reason: isDeleted ? reason : 'unsubscribed' }
  }
  if (!isCount(from) || !isCount(to)) return undefined
  const restart = members['restart'] === true
  return {
    kind: 'gap',
    channelId,
    from,
    to,
    reason: reason === 'reset' ? reason : 'retention',
    restart,
  }
}

function errorOf({ code, message }: Members): GatewayFrame | undefined {
  if (typeof code !== 'string' || typeof message !== 'string') return undefined
  return { kind: 'error', code, message }
}

function goawayOf({ reason, retry_after_ms }: Members): GatewayFrame {
  return {
    kind: 'goaway',
    // A reason of a later version: the device comes back, as after every reason but `replaced`.
    reason: GOAWAY_REASONS.find((name) => name === reason) ?? 'shutdown',
    retryAfterMs: isCount(retry_after_ms) ? retry_after_ms : undefined,
  }
}

/** JSON.parse gives only JSON values inside. */
const isFields = (value: unknown): value is Fields => isRecord(value)

const channelIdOf = (value: unknown): ChannelId | undefined =>
  typeof value === 'string' ? parseChannelId(value) : undefined

const textOf = (value: unknown, lengthMax: number): string | undefined =>
  typeof value === 'string' && value.length <= lengthMax ? value : undefined

/** A mark that is too long to send back is left out. */
const markOf = (value: unknown): PingMark =>
  typeof value === 'number' ? value : textOf(value, MARK_LENGTH_MAX)

const wrongType = (field: string, type: string): Answer<never> =>
  fault('invalid_json_data', { field, detail: `${field} must be ${type}` })
