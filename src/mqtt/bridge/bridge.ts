// The gateway as a client of a broker that is already there: what its devices publish becomes
// submissions of one channel.
//
// Invariants:
//   bridge/1. A publish is acknowledged after the log has every submission of it, or after one was
//             refused for what it is. Whatever else keeps a submission out leaves the publish with
//             the broker: it is tried again, and nothing behind it is taken before.
//   bridge/2. Of a cluster one node has the bridge at a time; it leaves the broker before the next
//             one comes, which goes on with the broker's session.
//   bridge/3. A publish that the broker kept, or sends again, may have ended a process: attempts
//             with it are counted durably, and it is passed over beyond a bound.
//   bridge/4. What devices said of later publishes is forgotten where another node may have had the
//             bridge since.

import type { Caller } from '#src/acceptance/caller'
import type { ChannelAccess, OpenChannel } from '#src/acceptance/channel-access'
import type { Mappings } from '#src/acceptance/channels/mappings'
import type { Presentations } from '#src/acceptance/history/presentations'
import type { Submissions } from '#src/acceptance/submissions'
import { reportDefect } from '#domain/defect'
import { fault, isFault } from '#domain/fault'
import type { Fault, FaultCode } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { Logger, Meter } from '#domain/telemetry'
import { ownThingId } from '#src/mqtt/devices/entity-name'
import type { Publish, Wish } from '#src/mqtt/devices/publish'
import { Attempts } from './attempts.ts'
import type { AttemptsPorts } from './attempts.ts'
import type { Broker, BrokerOptions, BrokerPublish, ConnectBroker } from './broker.ts'
import { Reading } from './reading.ts'

export interface BridgePorts extends Pick<AttemptsPorts, 'mqttSessions'> {
  readonly connect: ConnectBroker
  /** Calls back when this process is to have the bridge, and when another one is. */
  readonly alone: (
    task: 'bridge',
    changed: (isOurs: boolean) => Promise<void>,
  ) => Promise<() => Promise<void>>
  readonly submissions: Pick<Submissions, 'submit'>
  readonly access: Pick<ChannelAccess, 'enter'>
  readonly mappings: Pick<Mappings, 'of' | 'unmapped'>
  readonly presentation: Pick<Presentations, 'discovered'>
  readonly runtime: Pick<Runtime, 'nowMs' | 'wait' | 'entropy'>
  readonly meter: Meter
  readonly logger: Logger
}

/** Refusals that say nothing about the publish: another time it is taken. */
const PASSING: ReadonlySet<FaultCode> = new Set([
  'server_busy',
  'submission_not_accepted',
  'submission_outcome_unknown',
  'internal_error',
  'rate_limited',
  // The key was revoked or has expired: its file is to be replaced, and the publishes wait.
  'channel_not_found',
  'key_expired',
])
const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 5_000

const OUTCOMES = ['accepted', 'nothing', 'unmapped', 'refused', 'broken'] as const
type Outcome = (typeof OUTCOMES)[number]

export class Bridge {
  readonly #ports: BridgePorts
  readonly #options: BrokerOptions
  readonly #counts: ReadonlyMap<Outcome, (by?: number) => void>
  readonly #retried: (by?: number) => void
  readonly #reading: Reading
  #broker: Broker | undefined
  /** The channel of the key; undefined before the key has opened it. */
  #open: OpenChannel | undefined
  #attempts: Attempts | undefined
  /** The publish whose attempt is in the store. */
  #attempted: BrokerPublish | undefined
  #ending: Promise<void> | undefined
  #isConnected = false
  #isStopping = false
  #giveUp: Promise<() => Promise<void>> | undefined
  /** The failure that the logger has, until the broker is connected again. */
  #told: string | undefined
  /** The publish that is being taken. */
  #current: Promise<void> = Promise.resolve()

  constructor(ports: BridgePorts, options: BrokerOptions) {
    this.#ports = ports
    this.#options = options
    const { meter } = ports
    this.#counts = new Map(
      OUTCOMES.map((outcome) => [outcome, meter.counter('bridge_publishes_total', { outcome })]),
    )
    this.#retried = meter.counter('bridge_retries_total', {})
    this.#reading = new Reading(ports)
    meter.gauge('bridge_connected', {}, () => (this.#isConnected ? 1 : 0))
  }

  /** Connects to the broker while this process is to, until `stop`. */
  start(): void {
    const { alone, logger } = this.#ports
    this.#giveUp = alone('bridge', async (isOurs) => {
      if (isOurs) this.#connect()
      else await this.#leave()
    })
    this.#giveUp.catch((error: unknown) => {
      logger.error('the bridge does not start', { ...reportDefect(error) })
    })
  }

  #connect(): void {
    const { connect, logger } = this.#ports
    this.#isStopping = false
    this.#reading.reset() // bridge/4
    this.#attempts = undefined
    this.#broker = connect(this.#options, {
      take: (publish) => this.#taken(publish),
      connected: () => {
        this.#isConnected = true
        this.#told = undefined
        logger.info('the bridge is connected')
      },
      lost: () => {
        if (this.#isConnected) logger.warn('the bridge has lost its broker')
        this.#isConnected = false
      },
      failed: (reason) => {
        // A broker that is away fails each second, and is told once.
        if (reason !== this.#told) logger.warn('the bridge cannot read its broker', { reason })
        this.#told = reason
      },
    })
  }

  /** Gives the bridge up, which another process may take. */
  async stop(): Promise<void> {
    this.#isStopping = true
    const giveUp = await this.#giveUp?.catch(() => undefined)
    this.#giveUp = undefined
    await this.#leave()
    await giveUp?.()
  }

  /** Takes no further publish, waits for the one that is being taken, and leaves the broker. */
  async #leave(): Promise<void> {
    this.#isStopping = true // bridge/2
    await this.#current.catch(() => undefined)
    await this.#ending
    await this.#broker?.close()
    this.#broker = undefined
  }

  #taken(sent: BrokerPublish): Promise<void> {
    this.#current = this.#take(sent)
    return this.#current
  }

  async #take(sent: BrokerPublish): Promise<void> {
    this.#refuseWhenStopping()
    const { mappings, presentation, runtime } = this.#ports
    const { topic, payload, isKeptCopy } = sent
    const publish: Publish = { topic, payload, isKeptCopy, receivedAtMs: runtime.nowMs() }
    const { channelId, key } = (this.#open ??= await this.#opened())
    const sender = {
      thingId: ownThingId({ clientId: 'bridge' }),
      mappings: await mappings.of(channelId),
      key,
    }
    const isSuspect = isKeptCopy || sent.isRepeat
    if (isSuspect && !(await this.#begun(sent, channelId))) return this.#passedOver(publish)
    const outcome = this.#reading.read(publish, sender)
    if (outcome === 'broken') return this.#ended('broken', publish)
    if (outcome === undefined) {
      mappings.unmapped(channelId, publish.topic, publish.receivedAtMs)
      return this.#ended('unmapped', publish)
    }
    if (isFault(outcome)) return this.#ended('refused', publish, outcome)
    const refusal = await this.#submitted(outcome.wishes, publish) // bridge/1
    for (const reply of outcome.replies) this.#broker?.publish(reply.topic, reply.payload)
    if (refusal !== undefined) {
      outcome.forget?.()
      return this.#ended('refused', publish, refusal)
    }
    const { discovered } = outcome
    if (discovered !== undefined) presentation.discovered({ channelId, key }, discovered)
    return this.#ended(outcome.wishes.length === 0 ? 'nothing' : 'accepted', publish)
  }

  /** Begins an attempt until the store has it; false when there were too many. (bridge/3) */
  async #begun(sent: BrokerPublish, channelId: ChannelId): Promise<boolean> {
    const attempts = (this.#attempts ??= new Attempts(this.#ports, channelId))
    for (let tries = 0; ; tries += 1) {
      const isBegun = await attempts.begin(sent).catch(() => undefined)
      if (isBegun !== undefined) {
        this.#attempted = isBegun ? sent : undefined
        return isBegun
      }
      await this.#pause(tries)
    }
  }

  /** The process has not ended by the publish that is being taken. */
  #survived(): void {
    if (this.#attempted !== undefined) this.#ending = this.#attempts?.end(this.#attempted)
    this.#attempted = undefined
  }

  #passedOver(publish: Publish): void {
    const { topic } = publish
    this.#ports.logger.error('a publish of the broker ended the process too often', { topic })
    this.#ended('broken', publish)
  }

  /** Returns the channel of the key, once that opens it. */
  async #opened(): Promise<OpenChannel> {
    const { access, runtime } = this.#ports
    const password = this.#options.key
    for (let tries = 0; ; tries += 1) {
      const caller = { receivedAtMs: runtime.nowMs() }
      const open = await answered(() => access.enter({ password }, caller, { keysOnly: true }))
      if (!isFault(open)) return open
      await this.#pause(tries)
    }
  }

  /** Submits until the log has every wish that is not refused; the first refusal. */
  async #submitted(wishes: readonly Wish[], { receivedAtMs }: Publish): Promise<Fault | undefined> {
    const { submissions } = this.#ports
    const caller: Caller = { receivedAtMs }
    const password = this.#options.key
    let left = wishes.map((wish) => this.#withOperationId(wish))
    let refusal: Fault | undefined
    for (let tries = 0; left.length > 0; tries += 1) {
      const outcomes = await Promise.all(
        left.map(({ intent, fields }) =>
          answered(() => submissions.submit(intent, { ...fields, password }, caller)),
        ),
      )
      const faults = outcomes.map((outcome) => (isFault(outcome) ? outcome : undefined))
      refusal ??= faults.find((one) => one !== undefined && !PASSING.has(one.code))
      left = left.filter((_wish, index) => PASSING.has(faults[index]?.code ?? 'event_closed'))
      this.#survived()
      if (left.length > 0) await this.#pause(tries)
    }
    return refusal
  }

  /** Waits before the next try, longer each time. */
  async #pause(tries: number): Promise<void> {
    this.#retried()
    await this.#ports.runtime.wait(Math.min(FIRST_WAIT_MS * 2 ** tries, LONGEST_WAIT_MS))
    this.#refuseWhenStopping()
  }

  /** A Message that is tried again must not come twice. */
  #withOperationId(wish: Wish): Wish {
    if (wish.intent.model !== 'message') return wish
    const opId = `bridge-${this.#ports.runtime.entropy(16).toString('hex')}`
    return { ...wish, fields: { ...wish.fields, op_id: wish.fields['op_id'] ?? opId } }
  }

  /** A publish that is not taken stays with the broker. */
  #refuseWhenStopping(): void {
    if (this.#isStopping) throw new Error('the bridge is stopping')
  }

  #ended(outcome: Outcome, { topic }: Publish, refusal?: Fault): void {
    this.#survived()
    this.#counts.get(outcome)?.()
    if (refusal === undefined) return
    const { code, field } = refusal
    this.#ports.logger.debug('a publish of the broker was refused', { topic, code, field })
  }
}

/** The answer of acceptance; internal_error when it rejects, as when the store does not answer. */
async function answered<Value>(
  ask: () => Answer<Value> | Promise<Answer<Value>>,
): Promise<Answer<Value>> {
  try {
    return await ask()
  } catch {
    return fault('internal_error')
  }
}
