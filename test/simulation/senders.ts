// The senders: they know only what they are answered.

import { isFault } from '#domain/fault'
import { between, gapMs, happens, oneOf } from './chance.ts'
import type { Channel, ClientParts, Clients } from './clients.ts'
import type { SimulatedMqttClient } from './mqtt-client.ts'
import type { Model, Sent } from './observations.ts'
import { acknowledgeLater } from './people.ts'
import { submitTo } from './submitting.ts'
import { takeBack } from './taking-back.ts'
import { EPOCH_MS } from './virtual-runtime.ts'

const ATTEMPTS_MAX = 5

export class Senders {
  readonly #parts: ClientParts
  readonly #clients: Clients
  /** Submissions whose sender waits, or will ask again. */
  pending = 0
  #tokens = 0
  #observedMs = 0

  constructor(parts: ClientParts, clients: Clients) {
    this.#parts = parts
    this.#clients = clients
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
    const channel = oneOf(chance, this.#clients.channels)
    if (channel.isDeleted || channel.isInDoubt || channel.quietUntilMs > time.now) return
    if (happens(chance, swarm.chances.pause)) {
      channel.quietUntilMs = time.now + between(chance, 1_000, 60_000)
    }
    this.#tokens += 1
    const model = this.#model()
    const isMessage = model === 'message'
    const delayS =
      isMessage && happens(chance, swarm.shares.scheduled) ? between(chance, 10, 14) : 0
    const publisher = isMessage && delayS === 0 ? this.#publisherOf(channel) : undefined
    const canClaim = isMessage && publisher?.canName !== false
    const isClaimed = canClaim && happens(chance, swarm.shares.claimed)
    const sent: Sent = {
      token: this.#tokens,
      channelId: channel.id,
      model,
      thingId: model === 'thing' ? `thing-${chance(swarm.things)}` : '',
      key: model === 'thing' ? `key${chance(3)}` : '',
      observedAt: this.#observedAt(),
      sentMs: time.now,
      knownMs: Infinity,
      delayS,
      cancellation: 'none',
      // What waits for a time of the clock needs one that nobody sets.
      isAsking: model === 'event' && swarm.shares.scheduled > 0,
      opId: isClaimed ? `client-${this.#tokens}` : undefined,
      isUnnamed: publisher !== undefined && !isClaimed,
      outcome: 'open',
    }
    observations.sent.push(sent)
    if (publisher !== undefined) return publisher.publish(sent)
    this.pending += 1
    void this.#submit(sent, channel, 1)
  }

  /** No two are equal: the greatest decides, whatever the order of arrival. Late ones are odd. */
  #observedAt(): number {
    const { chance, time, swarm, isFaulty } = this.#parts
    this.#observedMs = Math.max(this.#observedMs + 2, 2 * Math.floor(time.now / 2))
    const isLate = happens(chance, isFaulty() ? swarm.chances.lateData : 0)
    return EPOCH_MS + this.#observedMs - (isLate ? 5_001 : 0)
  }

  /** The MQTT client that publishes in place of a sender, if the channel has one. */
  #publisherOf(channel: Channel): SimulatedMqttClient | undefined {
    const own = this.#clients.mqtt.filter((client) => client.channel === channel)
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
    const told = await this.#clients.ask(
      (stages, caller) => submitTo(stages, { sent, password: channel.password, isClaimed, caller }),
      this.#parts.swarm.patienceMs,
    )
    const error = told === 'none' ? 'none' : 'error' in told ? told.error : undefined
    observations.note(`sent ${sent.token} ${attempt} ${error ?? 'accepted'}`)
    if (told !== 'none' && 'value' in told) {
      sent.outcome = 'accepted'
      sent.opId = told.value
      sent.knownMs = time.now
      this.pending -= 1
      acknowledgeLater({ ...this.#parts, ask: this.#clients.ask }, sent, channel)
      if (sent.delayS > 0 && chance(2) === 0) this.#takeBackLater(sent, channel)
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

  #takeBackLater(sent: Sent, channel: Channel): void {
    const { time, chance } = this.#parts
    this.pending += 1
    time.after(between(chance, 0, (sent.delayS + 1) * 1_000), () => {
      const taken = takeBack({ ...this.#parts, ask: this.#clients.ask }, sent, channel)
      void taken.then(() => (this.pending -= 1))
    })
  }

  /** Whoever has a 200 finds the operation, at whichever node. */
  #readBack(sent: Sent, channel: Channel): void {
    const { chance, observations } = this.#parts
    if (chance(4) > 0) return
    void this.#clients
      .ask(async (stages, caller) => {
        const found = await stages.acceptance.statuses.find(sent.opId ?? '', caller)
        return isFault(found) ? found : found.status
      })
      .then((told) => {
        if (told === 'none' || !('error' in told) || told.error !== 'send_status_not_found') return
        if (channel.isInDoubt) return
        observations.break('who has a 200 finds the operation', `${sent.opId} of ${sent.token}`)
      })
  }

  /** After a change whose answer did not come. */
  #otherPassword(channel: Channel): void {
    if (channel.candidate === undefined) return
    const { password, candidate } = channel
    channel.password = candidate
    channel.candidate = password
  }
}
