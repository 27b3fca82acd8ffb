// Hooks of a channel: what its owner sets for them, and what monitoring tools tell by them.
//
// Invariants:
//   hooks/1. One alarm has one Event from its beginning to its end, whose id follows from the
//            beginning. Where the tool does not tell that, the store keeps the alarm's newest
//            Event, before the log has it. So a payload that is sent again, after a refusal, after
//            a crash or much later, opens no other one.

import { hash } from 'node:crypto'

import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { EPISODES_MAX } from '#domain/hooks'
import type { Episode } from '#domain/hooks'
import { operationIdFrom } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { pause } from '#domain/runtime'
import type { Caller } from '#src/acceptance/caller'
import type { Accepted, Intent } from '#src/acceptance/intent'
import { scopeRefusal, wholeRefusal } from '#src/acceptance/key-rights'
import type { MadeIds, Submissions } from '#src/acceptance/submissions'
import { hooksIn } from '#src/schemas/mappings/hook-requests'
import type { ChannelHooks } from '#src/schemas/mappings/hook-requests'
import { HOOKS } from '#src/schemas/mappings/hook-routes'
import type { HooksOfChannel } from '#src/schemas/mappings/hook-routes'
import { readersOf } from '#src/schemas/shape'
import { invalid } from '#src/schemas/values'
import type { Credentials } from '#src/schemas/values'
import type { Stage } from '#src/acceptance/stage'

type Fields = Readonly<Record<string, unknown>>

/** The Message, or the step of an alarm, that a payload reports. */
export type Told =
  | {
      readonly kind: 'message'
      readonly fields: Fields
      /** The same for a payload that is sent again. */
      readonly repeatKey?: string
    }
  | {
      readonly kind: 'firing' | 'resolved'
      readonly fields: Fields
      /** The tool's own id of what is in alarm: the same while it fires and when it resolves. */
      readonly source: string
      /** When it began, in the words of a tool that says so in each payload. */
      readonly start?: string
      /** Unix milliseconds. */
      readonly at: number
    }

type Alarm = Extract<Told, { readonly source: string }>

/** A sender that has shown its credentials. */
export interface HookSender {
  /** The name of the tool. */
  readonly tool: string
  readonly credentials: Credentials
  readonly caller: Caller
}

const READ = readersOf(HOOKS)
const HEX_CHARACTERS = 32
const SEND: Intent = { model: 'message', action: 'send' }
const CLOSE: Intent = { model: 'event', action: 'close' }
const NONE: ChannelHooks = { mappings: [], secrets: {} }
const FULL = invalid('source', `is one alarm more than ${EPISODES_MAX}, which are open`)
/** Another request has opened the same alarm at once. */
const OTHER = fault('server_busy', { retryAfterMs: 1_000 })

const isChange = ({ mappings, secrets }: Partial<ChannelHooks>): boolean =>
  mappings !== undefined || secrets !== undefined

export class Hooks {
  readonly #ports: Stage & { readonly submissions: Submissions }

  constructor(ports: Stage & { readonly submissions: Submissions }) {
    this.#ports = ports
  }

  /** Lets requests that have arrived be read, between the alarms of a long payload. */
  pause(): Promise<void> {
    return pause(this.#ports)
  }

  /** Changes what the request has of them; gives what the channel has then. */
  async use(fields: unknown, caller: Caller): Promise<Answer<HooksOfChannel>> {
    const { access, hooks } = this.#ports
    const request = await access.openSetting({ fields, caller, read: READ.use }, isChange)
    if (isFault(request)) return request
    const { channelId, mappings, secrets } = request
    const before = await this.of(channelId)
    if (!isChange(request)) return { channelId, ...before }
    const changed = Object.entries({ ...before.secrets, ...secrets })
    const after: ChannelHooks = {
      mappings: mappings ?? before.mappings,
      secrets: Object.fromEntries(changed.filter(([, secret]) => secret !== '')),
    }
    const isPut = await hooks.put(channelId, {
      mappings: JSON.stringify(after.mappings),
      secrets: JSON.stringify(after.secrets),
    })
    return isPut ? { channelId, ...after } : fault('channel_not_found')
  }

  /** What the owner of a channel has set for its hooks. */
  async of(channelId: ChannelId): Promise<ChannelHooks> {
    const kept = await this.#ports.hooks.find(channelId)
    return kept === undefined ? NONE : hooksIn(kept.mappings, kept.secrets)
  }

  /**
   * Opens the channel for a hook, which takes a key of the whole channel that may send, or where
   * passwords open sessions the password.
   */
  async open(fields: Fields, from: Caller, keysOnly: boolean): Promise<Answer<ChannelId>> {
    const opened = await this.#ports.access.enter(fields, from, { keysOnly })
    if (isFault(opened)) return opened
    const { channelId, key } = opened
    const refusal = key && (wholeRefusal(key) ?? scopeRefusal(key, 'send'))
    return refusal === undefined ? channelId : this.#ports.access.refuse(from, refusal)
  }

  /** Submits what a payload tells; undefined for the end of an alarm that is not open. */
  submit(told: Told, sender: HookSender): Promise<Answer<Accepted | undefined>> {
    if (told.kind === 'message') return this.#message(told, sender)
    if (told.start !== undefined) {
      const eventId = eventIdOf(sender, told.source, told.start)
      return this.#step(told, sender, eventId)
    }
    return told.kind === 'firing' ? this.#firing(told, sender) : this.#resolved(told, sender)
  }

  /** A Message that its tool sends again has the op_id of the first one. */
  async #message(
    { fields, repeatKey }: Extract<Told, { readonly kind: 'message' }>,
    sender: HookSender,
  ): Promise<Answer<Accepted>> {
    const opId = repeatKey && eventIdOf(sender, sender.credentials.channelId, repeatKey)
    return this.#submit(SEND, { ...fields, ...(opId && { op_id: opId }) }, sender)
  }

  /** Opens the Event of an alarm, or goes on with it. (hooks/1) */
  async #firing(alarm: Alarm, sender: HookSender): Promise<Answer<Accepted>> {
    const { hooks } = this.#ports
    const { channelId } = sender.credentials
    const source = sourceOf(sender, alarm.source)
    const kept = await hooks.episode(channelId, source)
    if (kept !== undefined && (kept.endedAt === 0 || alarm.at < kept.endedAt)) {
      // It began with an earlier payload.
      const { started_at: _started, ...fields } = alarm.fields
      return this.#step({ ...alarm, fields }, sender, kept.eventId)
    }
    const eventId = `${sender.tool}-${this.#ports.newHex32()}`
    const begin = async (): Promise<Fault | undefined> => {
      const outcome = await hooks.begin({ channelId, source, eventId })
      return outcome === 'begun' ? undefined : REFUSALS[outcome]
    }
    const outcome = await this.#step(alarm, sender, eventId, begin)
    return outcome === OTHER ? this.#firing(alarm, sender) : outcome
  }

  /** Closes the Event of an alarm. (hooks/1) */
  async #resolved(alarm: Alarm, sender: HookSender): Promise<Answer<Accepted | undefined>> {
    const { hooks } = this.#ports
    const { channelId } = sender.credentials
    const source = sourceOf(sender, alarm.source)
    const kept = await hooks.episode(channelId, source)
    if (kept === undefined) return sender.caller.refusal
    const episode: Episode = { channelId, source, eventId: kept.eventId }
    return this.#step(alarm, sender, kept.eventId, async () => {
      await hooks.end(episode, alarm.at)
      return undefined
    })
  }

  #step(
    { kind, at, fields }: Alarm,
    sender: HookSender,
    eventId: string,
    keep?: MadeIds['keep'],
  ): Promise<Answer<Accepted>> {
    const timed = { ...fields, event_time: at }
    return kind === 'firing'
      ? this.#submit({ model: 'event', action: 'create', eventId }, timed, sender, keep)
      : this.#submit(CLOSE, { ...timed, event_id: eventId, ended_at: at }, sender, keep)
  }

  async #submit(
    intent: Intent,
    fields: Fields,
    { credentials, caller }: HookSender,
    keep?: MadeIds['keep'],
  ): Promise<Answer<Accepted>> {
    const { newHex32, submissions } = this.#ports
    const { channelId, password } = credentials
    const opId = operationIdFrom(caller.receivedAtMs, newHex32())
    const made = keep && { opId, entityHex: newHex32, keep }
    return submissions.submit(intent, { ...fields, channel_id: channelId, password }, caller, made)
  }
}

const REFUSALS = { other: OTHER, full: FULL, 'no-channel': fault('channel_not_found') } as const

const digestOf = (...texts: readonly string[]): string =>
  hash('sha256', JSON.stringify(texts)).slice(0, HEX_CHARACTERS)

const sourceOf = ({ tool }: HookSender, source: string): string => digestOf(tool, source)

/** The id of the Event of an alarm that began then. */
const eventIdOf = ({ tool }: HookSender, source: string, start: string): string =>
  `${tool}-${digestOf(tool, source, start)}`
