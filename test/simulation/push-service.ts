// A push service in memory: it takes pushes, refuses some for now, hangs, and loses answers.

import type { Provider, Push } from '#domain/push'
import type { Runtime } from '#domain/runtime'
import type { Observations } from './observations.ts'

/** `refused`: for now. `lost`: the push arrives and its answer does not. `silent`: neither does. */
export type PushFate = 'well' | 'refused' | 'lost' | 'silent'

export interface PushFaults {
  /** Milliseconds of the way to the service or back. */
  readonly delayMs: () => number
  readonly fate: () => PushFate
}

/** The time after which the client of a provider gives an answer up. */
const SILENT_MS = 10_000

export class PushService {
  /** op_ids of the entries that arrived, by token. */
  readonly arrived = new Map<string, Set<string>>()
  /** When a device last got what it did not have. */
  newAtMs = 0
  readonly #faults: PushFaults
  readonly #observations: Observations
  readonly #nowMs: () => number

  /** `nowMs`: the time of the world, whatever the clocks of its machines say. */
  constructor(faults: PushFaults, observations: Observations, nowMs: () => number) {
    this.#faults = faults
    this.#observations = observations
    this.#nowMs = nowMs
  }

  /** The provider of one process. */
  providerFor({ nowMs, wait }: Pick<Runtime, 'nowMs' | 'wait'>): Provider {
    const send: Provider['send'] = async (push) => {
      if (nowMs() >= push.expiresAt) {
        const detail = `${push.entry.opId} ended at ${push.expiresAt}`
        this.#observations.break('a push is not sent after its end', detail)
      }
      const { delayMs, fate: draw } = this.#faults
      const fate = draw()
      await wait(delayMs())
      if (fate === 'refused') return { kind: 'deferred', reason: 'refused', trouble: 'provider' }
      if (fate !== 'silent') this.#arrive(push)
      await wait(fate === 'well' ? delayMs() : SILENT_MS)
      if (fate === 'well') return { kind: 'delivered' }
      return { kind: 'deferred', reason: 'no answer', trouble: 'provider' }
    }
    return { name: 'fcm', send, close: () => Promise.resolve() }
  }

  #arrive({ route: { token }, entry: { channelId, seq, opId } }: Push): void {
    const known = this.arrived.get(token) ?? new Set()
    if (!known.has(opId)) this.newAtMs = this.#nowMs()
    this.arrived.set(token, known.add(opId))
    this.#observations.note(`${token} < ${channelId.slice(0, 4)} ${seq} ${opId}`)
  }
}
