// The way of a client into the gateway: its credentials, and the session that it comes back to.
//
// Invariants:
//   entrance/1. A key whose rights do not allow its will opens no session, and hears why.

import { hash } from 'node:crypto'

import { isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { parseDeviceId } from '#domain/identity'
import type { ChannelId, DeviceId } from '#domain/identity'
import type {
  EnteredSession,
  MqttEntry,
  MqttSessionStore,
  SessionOwner,
} from '#domain/mqtt/sessions'
import type { Answer } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import { isRecord } from '#domain/record'
import type { Guard } from '#src/acceptance/caller-check'
import type { ChannelAccess, OpenChannel } from '#src/acceptance/channel-access'
import { scopeRefusal } from '#src/acceptance/key-rights'
import type { Submissions } from '#src/acceptance/submissions'
import type { DoorRequests } from '#src/doors/door-requests'
import { ownThingId } from '#src/mqtt/devices/entity-name'
import { NO_STATE } from '#src/mqtt/devices/family-state'
import type { Reply } from '#src/mqtt/devices/publish'
import { parseJson } from '#src/schemas/json/json'
import type { Opening, Will } from './connect.ts'
import { Exchanges } from './exchanges.ts'
import { Publisher } from './publisher.ts'
import type { PublisherPorts } from './publisher.ts'
import { Remembered } from './remembered.ts'
import type { RememberedPorts } from './remembered.ts'
import type { KeptState } from './signals.ts'
import type { StoredSubscription } from './subscriptions.ts'
import { readPublish } from './topics.ts'

export interface EntrancePorts extends PublisherPorts, Omit<RememberedPorts, 'mqttSessions'> {
  readonly requests: Pick<DoorRequests, 'answer'>
  readonly access: Pick<ChannelAccess, 'enter' | 'refuse'>
  readonly submissions: Pick<Submissions, 'submit' | 'refusalBy'>
  readonly mqttSessions: Pick<MqttSessionStore, 'enter' | 'record'>
  readonly runtime: Pick<Runtime, 'nowMs' | 'wait' | 'after'>
  /** True where only keys open a session. */
  readonly keysOnly: boolean
  /** Milliseconds for which a session is kept at most. */
  readonly keptMsMax: number
}

/** A client whose credentials are good. */
export interface Client {
  readonly open: OpenChannel
  readonly opening: Opening
  /** Its name among all clients of all channels, and its number among its connections. */
  readonly owner: SessionOwner
  /** The client id that the gateway made for a client without one. */
  readonly madeId: string | undefined
  readonly publisher: Publisher
  /** What earlier connections left; undefined for a session that is not kept. */
  readonly kept: KeptState | undefined
  readonly keptMs: number
  readonly remembered: Remembered | undefined
}

export interface Visitor {
  readonly opening: Opening
  readonly address: string
  /** Sends a publish to the client, unless it is gone. */
  readonly reply: (reply: Reply) => void
}

/** CONNECT is the one packet whose credentials count in the budget. */
const GUARD: Guard = { token: 'none', budget: 'passwords' }
/** Takes the place of the password in fields that are read only to see what a key may send. */
const WITH_A_KEY = 'with a key that is known'

/** Checks the credentials and begins the session; rejects when the store does not answer. */
export async function enter(
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
  const deviceId = deviceIdOf(channelId, name)
  const { number, kept } = await begun(opening, { deviceId, channelId }, ports)
  const owner = { deviceId, number }
  const exchanges = kept && new Exchanges(owner, kept.exchanges)
  const remembered = exchanges && new Remembered(ports, owner, exchanges)
  const publisher = new Publisher(ports, {
    channelId,
    password: sent.password,
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
  const keptMs = kept === undefined ? 0 : Math.min(opening.keptMs, keptMsMax)
  return { open, opening, owner, madeId, publisher, kept: state, keptMs, remembered }
}

/** The refusal of a will that its key may not send: it would be kept in vain. (entrance/1) */
async function willRefusal(
  will: Will | undefined,
  { channelId, key, name }: OpenChannel & { readonly name: string },
  { mappings, submissions, runtime }: EntrancePorts,
): Promise<Fault | undefined> {
  if (will === undefined || key === undefined) return undefined
  const lacks = scopeRefusal(key, 'send')
  if (lacks !== undefined || key.thingPrefix === '') return lacks
  const sender = {
    thingId: ownThingId({ ...key, clientId: name }),
    mappings: await mappings.of(channelId),
  }
  const { topic, payload } = will
  const publish = { topic, payload, receivedAtMs: runtime.nowMs() }
  const read = readPublish(publish, { sender, state: NO_STATE })
  for (const { intent, fields } of isFault(read) ? [] : read.wishes) {
    const sent = { ...fields, channel_id: channelId, password: WITH_A_KEY }
    const refusal = submissions.refusalBy(key, intent, sent)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** Begins the session. That before is forgotten in passing where nothing is to be kept. */
async function begun(
  { isClean, keptMs }: Opening,
  client: Pick<MqttEntry, 'deviceId' | 'channelId'>,
  { mqttSessions, runtime }: EntrancePorts,
): Promise<EnteredSession> {
  const nowMs = runtime.nowMs()
  const isKept = keptMs > 0
  const entered = mqttSessions.enter({ ...client, isClean, isKept, nowMs })
  if (isKept || !isClean) return entered
  entered.catch(() => undefined)
  return { number: nowMs, kept: undefined }
}

/** The device that a client is, in the place of one with a device key. */
export function deviceIdOf(channelId: ChannelId, clientId: string): DeviceId {
  const deviceId = parseDeviceId(hash('sha256', `mqtt:${channelId}/${clientId}`, 'hex'))
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
