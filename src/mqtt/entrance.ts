// The way of a client into the gateway: its credentials, and the session that it comes back to.
//
// Invariants:
//   mqtt-entrance/1. A session belongs to the credential that made it: the password of the channel,
//                    or one key. Others with its client id have sessions of their own.
//   mqtt-entrance/2. A key whose rights do not allow its will opens no session, and hears why.

import { hash } from 'node:crypto'

import { reportDefect } from '#domain/defect'
import { isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { parseDeviceId } from '#domain/identity'
import type { DeviceId } from '#domain/identity'
import type {
  EnteredSession,
  MqttEntry,
  MqttSessionStore,
  SessionOwner,
} from '#domain/mqtt/sessions'
import type { Answer } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import { isRecord } from '#domain/record'
import type { Logger } from '#domain/telemetry'
import type { Guard } from '#src/acceptance/caller-check'
import type { ChannelAccess, OpenChannel } from '#src/acceptance/channel-access'
import { scopeRefusal } from '#src/acceptance/key-rights'
import type { Submissions } from '#src/acceptance/submissions'
import type { DoorRequests } from '#src/doors/door-requests'
import { ownThingId } from '#src/mqtt/devices/entity-name'
import { FamilyState } from '#src/mqtt/devices/family-state'
import type { Reply } from '#src/mqtt/devices/publish'
import { translate } from '#src/mqtt/devices/translate'
import { BUSY } from '#src/refusals/rejection'
import { parseJson } from '#src/schemas/json/json'
import type { Opening, Will } from './connect.ts'
import { Exchanges } from './exchanges.ts'
import { Publisher } from './publisher.ts'
import type { PublisherPorts } from './publisher.ts'
import { Remembered } from './remembered.ts'
import type { RememberedPorts } from './remembered.ts'
import type { InputOf, KeptState } from './signals.ts'
import type { StoredSubscription } from './subscriptions.ts'

export interface EntrancePorts extends PublisherPorts, Omit<RememberedPorts, 'mqttSessions'> {
  readonly requests: Pick<DoorRequests, 'answer'>
  readonly access: Pick<ChannelAccess, 'enter' | 'refusalSince' | 'refuse'>
  readonly submissions: Pick<Submissions, 'submit' | 'refusalBy'>
  readonly mqttSessions: Pick<MqttSessionStore, 'enter' | 'record'>
  readonly runtime: Pick<Runtime, 'nowMs' | 'wait' | 'after'>
  readonly logger: Pick<Logger, 'debug' | 'warn'>
  /** Counts a session that is not kept, for there is no place. */
  readonly crowded: () => void
  /** True where only keys open a session. */
  readonly keysOnly: boolean
  /** Milliseconds for which a session is kept at most. */
  readonly keptMsMax: number
}

/** A client whose credentials are good. */
export interface Client {
  readonly open: OpenChannel
  /** Tells its session that it is in. */
  readonly opened: () => Omit<InputOf<'opened'>, 'aliasMax'>
  /** The refusal that its credentials get now; undefined while they are good. */
  readonly refusal: () => Promise<Fault | undefined>
  readonly opening: Opening
  /** Its name among all clients of all channels, and its number among its connections. */
  readonly owner: SessionOwner
  readonly publisher: Publisher
  /** What earlier connections left; undefined for a session that is not kept. */
  readonly kept: KeptState | undefined
  readonly keptMs: number
  readonly remembered: Remembered | undefined
}

interface Visitor {
  readonly opening: Opening
  readonly address: string
  /** Sends a publish to the client, unless it is gone. */
  readonly reply: (reply: Reply) => void
}

/** CONNECT is the one packet whose credentials count in the budget. */
const GUARD: Guard = { token: 'none', budget: 'passwords' }
/** Takes the place of the password in fields that are read only to see what a key may send. */
const WITH_A_KEY = 'with a key that is known'

/** Checks the credentials and begins the session; server_busy when the store does not answer. */
export async function enter(visitor: Visitor, ports: EntrancePorts): Promise<Answer<Client>> {
  try {
    return await admitted(visitor, ports)
  } catch (error) {
    ports.logger.warn('the store did not answer a session', { ...reportDefect(error) })
    return BUSY
  }
}

async function admitted(
  { opening, address, reply }: Visitor,
  ports: EntrancePorts,
): Promise<Answer<Client>> {
  const { requests, access, keysOnly, keptMsMax } = ports
  const { level, clientId } = opening
  const { userName, password } = opening.credentials
  const sent = password === undefined ? { password: userName } : { channel_id: userName, password }
  const arrival = { guard: GUARD, peer: { address }, authorization: '' }
  const madeId = clientId === '' ? ports.newHex32() : undefined
  const name = madeId ?? clientId
  const open = await requests.answer(arrival, async (caller) => {
    const opened = await access.enter(sent, caller, { keysOnly })
    if (isFault(opened)) return opened
    void ports.mappings.of(opened.channelId) // They are known before the first publish.
    const refusal = await willRefusal(opening.will, { ...opened, name }, ports)
    return refusal === undefined ? opened : access.refuse(caller, refusal)
  })
  if (isFault(open)) return open
  const { channelId, key } = open
  const deviceId = deviceIdOf(open, name)
  const expiresAt = key !== undefined && key.expiresAt > 0 ? key.expiresAt : undefined
  const whose = { deviceId, channelId, keyId: key?.keyId ?? '', expiresAt }
  const { number, kept } = await begun(opening, whose, ports)
  if (kept === undefined && opening.keptMs > 0) ports.crowded()
  const owner = { deviceId, number }
  const exchanges = kept && new Exchanges(owner, kept.exchanges)
  const remembered = exchanges && new Remembered(ports, owner, exchanges)
  const publisher = new Publisher(ports, {
    channelId,
    password: sent.password,
    key,
    address,
    level,
    thingId: ownThingId({ ...key, clientId: name }),
    remembered,
    reply,
  })
  const state = kept && {
    isPresent: kept.isPresent,
    subscriptions: subscriptionsFrom(kept.subscriptions),
    unreleased: exchanges?.unreleased ?? [],
  }
  const expiresInMs = (): number => (expiresAt ?? Infinity) - ports.runtime.nowMs()
  const keptMs = kept === undefined ? 0 : Math.min(opening.keptMs, keptMsMax, expiresInMs())
  const session = { open, kept: state, madeId, keptMs }
  return {
    ...session,
    owner,
    opening,
    publisher,
    remembered,
    opened: () => ({ kind: 'opened', ...session, own: publisher, expiresInMs: expiresInMs() }),
    refusal: () => access.refusalSince(open, sent.password),
  }
}

/** The refusal of a will that its key may not send: it would be kept in vain. (mqtt-entrance/2) */
async function willRefusal(
  will: Will | undefined,
  { channelId, key, name }: OpenChannel & { readonly name: string },
  { mappings, submissions, runtime, states }: EntrancePorts,
): Promise<Fault | undefined> {
  if (will === undefined || key === undefined) return undefined
  const lacks = scopeRefusal(key, 'send')
  if (lacks !== undefined || key.thingPrefix === '') return lacks
  const thingId = ownThingId({ ...key, clientId: name })
  const sender = { thingId, key, mappings: await mappings.of(channelId) }
  const { topic, payload } = will
  const state = new FamilyState(states)
  const read = translate({ topic, payload, receivedAtMs: runtime.nowMs() }, { sender, state })
  state.clear()
  for (const { intent, fields } of read === undefined || isFault(read) ? [] : read.wishes) {
    const sent = { ...fields, channel_id: channelId, password: WITH_A_KEY }
    const refusal = submissions.refusalBy(key, intent, sent)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** Begins the session. That before is forgotten in passing where nothing is to be kept. */
async function begun(
  { isClean, keptMs }: Opening,
  client: Omit<MqttEntry, 'isClean' | 'isKept' | 'nowMs'>,
  { mqttSessions, runtime }: EntrancePorts,
): Promise<EnteredSession> {
  const nowMs = runtime.nowMs()
  const isKept = keptMs > 0
  const entered = mqttSessions.enter({ ...client, isClean, isKept, nowMs })
  if (isKept || !isClean) return entered
  entered.catch(() => undefined)
  return { number: nowMs, kept: undefined }
}

/**
 * The device that a client is, in the place of one with a device key. A client id names it among
 * the clients of one credential: nobody enters, ends or clears the session of another one.
 */
export function deviceIdOf({ channelId, key }: OpenChannel, clientId: string): DeviceId {
  // mqtt-entrance/1: the ids have one length, so no two pairs give the same text.
  const whose = key === undefined ? `mqtt:${channelId}` : `mqtt-key:${key.keyId}`
  const deviceId = parseDeviceId(hash('sha256', `${whose}/${clientId}`, 'hex'))
  if (deviceId === undefined) throw new Error('no device id')
  return deviceId
}

/** Reads subscriptions as the gateway stored them. */
function subscriptionsFrom(text: string): readonly StoredSubscription[] {
  const stored = parseJson(text)
  return Array.isArray(stored) ? stored.filter(isSubscription) : []
}

const isSubscription = (stored: unknown): stored is StoredSubscription =>
  isRecord(stored) && typeof stored['topic'] === 'string'
