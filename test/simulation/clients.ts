// The programs that use the gateways: senders, and people who change passwords, delete channels and
// move devices. They know only what they are answered.

import { isFault } from '#domain/fault'
import { askerOf, errorOf } from './asking.ts'
import type { Ask, AskingParts, Served } from './asking.ts'
import { between, gapMs, happens, oneOf } from './chance.ts'
import { RULES } from './judge-rules.ts'
import type { RuleKind } from './judge-rules.ts'
import type { Model, Observations, Sent } from './observations.ts'
import type { SimulatedDevice } from './device.ts'
import type { SimulatedMqttClient } from './mqtt-client.ts'
import { submitTo } from './submitting.ts'
import { EPOCH_MS } from './virtual-runtime.ts'

export interface Channel {
  readonly id: string
  readonly rule: RuleKind | undefined
  password: string
  /** A new password whose change had no answer. */
  candidate: string | undefined
  /** Passwords that are known to be replaced. */
  readonly ended: string[]
  isDeleted: boolean
  /** True once nobody knows whether it is deleted. */
  isInDoubt: boolean
  /** Nobody sends to it before that time. */
  quietUntilMs: number
}

/** A device that a push service reaches. */
export interface PushDevice {
  readonly key: string
  readonly token: string
}

export interface ClientParts extends AskingParts {
  readonly observations: Observations
}

const ATTEMPTS_MAX = 5

export class Clients {
  readonly channels: Channel[] = []
  readonly mqtt: SimulatedMqttClient[] = []
  readonly #parts: ClientParts
  readonly #ask: Ask
  /** Submissions whose sender waits, or will try again. */
  pending = 0
  #tokens = 0
  #passwords = 0

  constructor(parts: ClientParts) {
    this.#parts = parts
    this.#ask = askerOf(parts)
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
    if (channel.isDeleted || channel.isInDoubt || channel.quietUntilMs > time.now) return
    if (happens(chance, swarm.chances.pause)) {
      channel.quietUntilMs = time.now + between(chance, 1_000, 60_000)
    }
    this.#tokens += 1
    const model = this.#model()
    const isLate = happens(chance, this.#parts.isFaulty() ? swarm.chances.lateData : 0)
    const isMessage = model === 'message'
    const publisher = isMessage ? this.#publisherOf(channel) : undefined
    const canClaim = isMessage && publisher?.canName !== false
    const isClaimed = canClaim && happens(chance, swarm.shares.claimed)
    const sent: Sent = {
      token: this.#tokens,
      channelId: channel.id,
      model,
      thingId: model === 'thing' ? `thing-${chance(swarm.things)}` : '',
      key: model === 'thing' ? `key${chance(3)}` : '',
      // No two are equal: the greatest decides, whatever the order of arrival.
      observedAt: EPOCH_MS + Math.floor(time.now) * 1_000 + this.#tokens - (isLate ? 5e6 : 0),
      opId: isClaimed ? `client-${this.#tokens}` : undefined,
      isUnnamed: publisher !== undefined && !isClaimed,
      outcome: 'open',
    }
    observations.sent.push(sent)
    if (publisher !== undefined) return publisher.publish(sent)
    this.pending += 1
    void this.#submit(sent, channel, 1)
  }

  /** The MQTT client that publishes in place of a sender, if the channel has one. */
  #publisherOf(channel: Channel): SimulatedMqttClient | undefined {
    const own = this.mqtt.filter((client) => client.channel === channel)
    const { chance } = this.#parts
    return own.length === 0 || chance(3) === 0 ? undefined : oneOf(chance, own)
  }

  #model(): Model {
    const { chance, swarm } = this.#parts
    if (happens(chance, swarm.shares.message)) return 'message'
    return happens(chance, swarm.shares.event) ? 'event' : 'thing'
  }

  async #submit(sent: Sent, channel: Channel, attempt: number): Promise<void> {
    const { chance, time, observations } = this.#parts
    const isClaimed = sent.opId?.startsWith('client-') === true
    const told = await this.#ask(
      (stages, caller) => submitTo(stages, { sent, password: channel.password, isClaimed, caller }),
      this.#parts.swarm.patienceMs,
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

  async createChannel(rule?: RuleKind): Promise<boolean> {
    const password = this.#newPassword()
    const told = await this.#ask(async (stages, caller) => {
      const made = await stages.acceptance.channels.create(
        { channel_name: 'one', password },
        caller,
      )
      return isFault(made) ? made : made.channelId
    })
    if (told === 'none' || 'error' in told) return false
    const isPut = rule === undefined || (await this.#putRule(told.value, password, rule))
    if (!isPut) return false
    const known = { id: told.value, password, rule, candidate: undefined, ended: [] }
    this.channels.push({ ...known, isDeleted: false, isInDoubt: false, quietUntilMs: 0 })
    return true
  }

  async #putRule(channelId: string, password: string, kind: RuleKind): Promise<boolean> {
    const told = await this.#ask((stages, caller) =>
      stages.acceptance.submissions.submit(
        { model: 'rule', action: 'put' },
        { channel_id: channelId, password, rule_id: kind, rule: RULES[kind] },
        caller,
      ),
    )
    return told !== 'none' && 'value' in told
  }

  async registerDevice(platform = 'linux'): Promise<string | undefined> {
    const told = await this.#ask(async (stages, caller) => {
      const made = await stages.acceptance.registration.register({ platform }, caller)
      return isFault(made) ? made : made.deviceKey
    })
    return told === 'none' || 'error' in told ? undefined : told.value
  }

  /** Registers a device that a push service reaches by its token. */
  async registerPushDevice(number: number): Promise<PushDevice | undefined> {
    const key = await this.registerDevice('android')
    if (key === undefined) return undefined
    const token = `token-of-device-${number}`
    const told = await this.#ask((stages, caller) => {
      const fields = { device_key: key, channel_type: 'fcm', provider_token: token }
      return stages.acceptance.deviceRoutes.set(fields, caller)
    })
    return told === 'none' || 'error' in told ? undefined : { key, token }
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
}
