// The programs that use the gateways: senders, and people who change passwords, delete channels and
// move devices. They know only what they are answered.

import { isFault } from '#domain/fault'
import type { Caller } from '#src/acceptance/caller'
import type { Stages } from '#src/runtime/stages'
import { between, gapMs, happens, oneOf } from './chance.ts'
import type { Chance } from './chance.ts'
import type { Model, Observations, Sent } from './observations.ts'
import type { SimulatedDevice } from './device.ts'
import { submitTo } from './submitting.ts'
import type { Swarm } from './swarm.ts'
import { EPOCH_MS } from './virtual-runtime.ts'
import type { Owner, VirtualTime } from './virtual-time.ts'

/** A process that takes requests. */
export interface Served {
  readonly name: string
  readonly stages: Stages
  readonly owner: Owner
  readonly nowMs: () => number
}

export interface Channel {
  readonly id: string
  password: string
  /** A new password whose change had no answer. */
  candidate: string | undefined
  /** Passwords that are known to be replaced. */
  readonly ended: string[]
  isDeleted: boolean
  /** True once nobody knows whether it is deleted. */
  isInDoubt: boolean
}

export interface ClientParts {
  readonly time: VirtualTime
  readonly chance: Chance
  readonly swarm: Swarm
  readonly observations: Observations
  readonly delayMs: () => number
  readonly served: () => readonly Served[]
  /** False in the healthy phase. */
  readonly isFaulty: () => boolean
}

/** The answer to a request; `none` when it got lost, or never comes. */
type Told<Value> = { readonly value: Value } | { readonly error: string } | 'none'

const ANSWER_MS = 12_000
const ATTEMPTS_MAX = 5

export class Clients {
  readonly channels: Channel[] = []
  readonly #parts: ClientParts
  /** Submissions whose sender waits, or will try again. */
  pending = 0
  #tokens = 0
  #passwords = 0

  constructor(parts: ClientParts) {
    this.#parts = parts
  }

  /** Sends so many submissions a second until `isOver`. */
  load(isOver: () => boolean): void {
    const { time, chance, swarm } = this.#parts
    const next = (): void => {
      if (isOver()) return
      this.submitOne()
      time.after(gapMs(chance, swarm.load), next)
    }
    time.after(gapMs(chance, swarm.load), next)
  }

  submitOne(): void {
    const { chance, time, swarm, observations } = this.#parts
    const channel = oneOf(chance, this.channels)
    if (channel.isDeleted || channel.isInDoubt) return
    this.#tokens += 1
    const kind = chance(10)
    const model: Model = kind === 0 ? 'message' : kind === 1 ? 'event' : 'thing'
    const isLate = happens(chance, this.#parts.isFaulty() ? swarm.chances.lateData : 0)
    const sent: Sent = {
      token: this.#tokens,
      channelId: channel.id,
      model,
      thingId: model === 'thing' ? `thing-${chance(swarm.things)}` : '',
      key: model === 'thing' ? `key${chance(3)}` : '',
      // No two are equal: the greatest decides, whatever the order of arrival.
      observedAt: EPOCH_MS + Math.floor(time.now) * 1_000 + this.#tokens - (isLate ? 5e6 : 0),
      opId: model === 'message' && chance(2) === 0 ? `client-${this.#tokens}` : undefined,
      outcome: 'open',
    }
    observations.sent.push(sent)
    this.pending += 1
    void this.#submit(sent, channel, 1)
  }

  async #submit(sent: Sent, channel: Channel, attempt: number): Promise<void> {
    const { chance, time, observations } = this.#parts
    const isClaimed = sent.opId?.startsWith('client-') === true
    const told = await this.#ask((stages, caller) =>
      submitTo(stages, { sent, password: channel.password, isClaimed, caller }),
    )
    const error = told === 'none' ? 'none' : 'error' in told ? told.error : undefined
    observations.note(`sent ${sent.token} ${attempt} ${error ?? 'accepted'}`)
    if (told !== 'none' && 'value' in told) {
      sent.outcome = 'accepted'
      sent.opId = told.value
      this.pending -= 1
      return this.#readBack(sent, channel)
    }
    if (error?.startsWith('op_id_') === true) {
      observations.break('a repeat is no conflict', `${sent.opId} got ${error}`)
    }
    if (error === 'channel_not_found') this.#otherPassword(channel)
    const isUnknown =
      error === 'none' || error === 'submission_outcome_unknown' || error === 'threw'
    if (isUnknown) sent.outcome = 'unknown'
    else if (sent.outcome === 'open') sent.outcome = 'refused'
    if (!isClaimed || attempt === ATTEMPTS_MAX || channel.isDeleted) {
      this.pending -= 1
      return
    }
    time.after(between(chance, 10, 1_000), () => void this.#submit(sent, channel, attempt + 1))
  }

  /** Whoever has a 200 finds the operation, at whichever node. */
  #readBack(sent: Sent, channel: Channel): void {
    const { chance, observations } = this.#parts
    if (chance(4) > 0) return
    void this.#ask(async (stages, caller) => {
      const found = await stages.acceptance.statuses.find(sent.opId ?? '', caller)
      return isFault(found) ? found : found.status
    }).then((told) => {
      if (told === 'none' || !('error' in told) || told.error !== 'send_status_not_found') return
      if (channel.isInDoubt) return
      observations.break('who has a 200 finds the operation', `${sent.opId} of ${sent.token}`)
    })
  }

  #otherPassword(channel: Channel): void {
    if (channel.candidate === undefined) return
    const { password, candidate } = channel
    channel.password = candidate
    channel.candidate = password
  }

  async createChannel(): Promise<boolean> {
    const password = this.#newPassword()
    const told = await this.#ask(async (stages, caller) => {
      const made = await stages.acceptance.channels.create(
        { channel_name: 'one', password },
        caller,
      )
      return isFault(made) ? made : made.channelId
    })
    if (told === 'none' || 'error' in told) return false
    const known = { id: told.value, password, candidate: undefined, ended: [] }
    this.channels.push({ ...known, isDeleted: false, isInDoubt: false })
    return true
  }

  async registerDevice(): Promise<string | undefined> {
    const told = await this.#ask(async (stages, caller) => {
      const made = await stages.acceptance.registration.register({ platform: 'linux' }, caller)
      return isFault(made) ? made : made.deviceKey
    })
    return told === 'none' || 'error' in told ? undefined : told.value
  }

  async changePassword(): Promise<void> {
    const channel = oneOf(this.#parts.chance, this.channels)
    if (channel.candidate !== undefined || channel.isDeleted || channel.isInDoubt) return
    const { password } = channel
    const next = this.#newPassword()
    channel.candidate = next
    const told = await this.#ask(async (stages, caller) => {
      const fields = { channel_id: channel.id, password, new_password: next }
      return stages.acceptance.channels.changePassword(fields, caller)
    })
    this.#parts.observations.note(`password of ${channel.id} ${errorOf(told)}`)
    if (told !== 'none' && 'value' in told) {
      channel.password = next
      channel.candidate = undefined
      channel.ended.push(password)
    }
  }

  async deleteChannel(): Promise<void> {
    if (this.channels.length < 2) return
    const channel = oneOf(this.#parts.chance, this.channels)
    if (channel.isDeleted || channel.isInDoubt) return
    channel.isInDoubt = true
    const told = await this.#ask((stages, caller) =>
      stages.acceptance.channels.delete(
        { channel_id: channel.id, password: channel.password },
        caller,
      ),
    )
    this.#parts.observations.note(`deletion of ${channel.id} ${errorOf(told)}`)
    if (told !== 'none' && 'value' in told) channel.isDeleted = true
  }

  async join(
    { key }: { readonly key: string },
    channel = oneOf(this.#parts.chance, this.channels),
  ) {
    const told = await this.#ask((stages, caller) => {
      const fields = { device_key: key, channel_id: channel.id, password: channel.password }
      return stages.acceptance.subscriptions.subscribe(fields, caller)
    })
    this.#parts.observations.note(`a device joins ${channel.id}: ${errorOf(told)}`)
    return told !== 'none' && 'value' in told
  }

  async leave({ key, device }: { readonly key: string; readonly device: SimulatedDevice }) {
    const [id] = device.channels.keys()
    if (id === undefined) return
    const told = await this.#ask((stages, caller) =>
      stages.acceptance.subscriptions.unsubscribe({ device_key: key, channel_id: id }, caller),
    )
    this.#parts.observations.note(`a device leaves ${id}: ${errorOf(told)}`)
  }

  /** The verdict of one process about a password: an error code, or `opens`. */
  async tryPassword(
    { stages, nowMs }: Served,
    channel: Channel,
    password: string,
  ): Promise<string> {
    const fields = { channel_id: channel.id, password }
    const info = await stages.acceptance.channels.info(fields, { receivedAtMs: nowMs() })
    return isFault(info) ? info.code : 'opens'
  }

  #newPassword(): string {
    this.#passwords += 1
    return `correct-horse-${this.#passwords}`
  }

  /** Asks one of the processes over the network, which may lose the question or the answer. */
  #ask<Value>(
    work: (stages: Stages, caller: Caller) => Promise<Value> | Value,
  ): Promise<Told<Exclude<Value, { readonly code: string }>>> {
    const { time, chance, swarm, delayMs, served } = this.#parts
    const all = served()
    if (all.length === 0) return Promise.resolve({ error: 'refused' })
    const { stages, owner, nowMs } = oneOf(chance, all)
    const isLost = this.#parts.isFaulty() && happens(chance, swarm.chances.senderLosesAnswer)
    return new Promise((resolve) => {
      time.after(ANSWER_MS, () => resolve('none'))
      const tell = (told: Told<Exclude<Value, { readonly code: string }>>): void => {
        if (!isLost && owner.state !== 'dead') time.after(delayMs(), () => resolve(told))
      }
      const arrive = (): void => {
        const answered = async (): Promise<Value> => work(stages, { receivedAtMs: nowMs() })
        answered().then(
          (value) =>
            tell(
              isFault(value)
                ? { error: value.code }
                : { value: value as Exclude<Value, { readonly code: string }> },
            ),
          () => tell({ error: 'threw' }),
        )
      }
      time.after(delayMs(), arrive, owner)
    })
  }
}

const errorOf = (told: Told<unknown>): string =>
  told === 'none' ? 'none' : 'error' in told ? told.error : 'done'
