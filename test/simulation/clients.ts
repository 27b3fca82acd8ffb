// The people who make channels, change their passwords and rules, delete them, and move devices. They
// know only what they are answered.

import { isFault } from '#domain/fault'
import { askerOf, errorOf } from './asking.ts'
import type { Ask, AskingParts, Served } from './asking.ts'
import { oneOf } from './chance.ts'
import type { Observations } from './observations.ts'
import type { SimulatedDevice } from './device.ts'
import type { SimulatedMqttClient } from './mqtt-client.ts'
import { Ruling } from './rules-of-channels.ts'
import type { RuleKind } from './rules-of-channels.ts'

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

export class Clients {
  readonly channels: Channel[] = []
  readonly mqtt: SimulatedMqttClient[] = []
  readonly #parts: ClientParts
  readonly ask: Ask
  readonly #ruling: Ruling
  /** Changes of rules that wait for an answer. */
  pending = 0
  /** The number of passwords that channels were given. */
  passwords = 0

  constructor(parts: ClientParts) {
    this.#parts = parts
    this.ask = askerOf(parts)
    this.#ruling = new Ruling({ ...parts, ask: this.ask })
  }

  async createChannel(rule?: RuleKind): Promise<boolean> {
    const password = this.#newPassword()
    const told = await this.ask(async (stages, caller) => {
      const made = await stages.acceptance.channels.create(
        { channel_name: 'one', password },
        caller,
      )
      return isFault(made) ? made : made.channelId
    })
    if (told === 'none' || 'error' in told) return false
    const made = { id: told.value, password }
    const isPut = rule === undefined || (await this.#ruling.begin(made, rule))
    if (!isPut) return false
    const known = { ...made, rule, candidate: undefined, ended: [] }
    this.channels.push({ ...known, isDeleted: false, isInDoubt: false, quietUntilMs: 0 })
    return true
  }

  async changeRule(): Promise<void> {
    const changing = this.channels.filter(
      ({ rule, isDeleted, isInDoubt }) => rule === 'changing' && !isDeleted && !isInDoubt,
    )
    if (changing.length === 0) return
    this.pending += 1
    await this.#ruling.change(oneOf(this.#parts.chance, changing))
    this.pending -= 1
  }

  async registerDevice(platform = 'linux'): Promise<string | undefined> {
    const told = await this.ask(async (stages, caller) => {
      const made = await stages.acceptance.devices.register({ platform }, caller)
      return isFault(made) ? made : made.deviceKey
    })
    return told === 'none' || 'error' in told ? undefined : told.value
  }

  /** Registers a device that a push service reaches by its token. */
  async registerPushDevice(number: number): Promise<PushDevice | undefined> {
    const key = await this.registerDevice('android')
    if (key === undefined) return undefined
    const token = `token-of-device-${number}`
    const told = await this.ask((stages, caller) => {
      const fields = { device_key: key, channel_type: 'fcm', provider_token: token }
      return stages.acceptance.devices.setRoute(fields, caller)
    })
    return told === 'none' || 'error' in told ? undefined : { key, token }
  }

  async changePassword(): Promise<void> {
    const channel = oneOf(this.#parts.chance, this.channels)
    if (channel.candidate !== undefined || channel.isDeleted || channel.isInDoubt) return
    const { password } = channel
    const next = this.#newPassword()
    channel.candidate = next
    const told = await this.ask(async (stages, caller) => {
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

  /** The password that opens a channel, also after a change that had no answer. */
  async opening({ id, password, candidate }: Channel): Promise<string> {
    if (candidate === undefined) return password
    const told = await this.ask((stages, caller) =>
      stages.acceptance.channels.info({ channel_id: id, password: candidate }, caller),
    )
    return told !== 'none' && 'value' in told ? candidate : password
  }

  async deleteChannel(): Promise<void> {
    if (this.channels.length < 2) return
    const channel = oneOf(this.#parts.chance, this.channels)
    if (channel.isDeleted || channel.isInDoubt) return
    channel.isInDoubt = true
    const told = await this.ask((stages, caller) =>
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
    const told = await this.ask((stages, caller) => {
      const fields = { device_key: key, channel_id: channel.id, password: channel.password }
      return stages.acceptance.subscriptions.subscribe(fields, caller)
    })
    this.#parts.observations.note(`a device joins ${channel.id}: ${errorOf(told)}`)
    return told !== 'none' && 'value' in told
  }

  async leave({ key, device }: { readonly key: string; readonly device: SimulatedDevice }) {
    const [id] = device.channels.keys()
    if (id === undefined) return
    const told = await this.ask((stages, caller) =>
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
    this.passwords += 1
    return `correct-horse-${this.passwords}`
  }
}
