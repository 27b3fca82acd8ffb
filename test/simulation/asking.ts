// Requests to the processes over a network that may lose a question or its answer.

import { isFault } from '#domain/fault'
import type { Caller } from '#src/acceptance/caller'
import type { MqttDoor } from '#src/mqtt/door'
import type { Stages } from '#src/runtime/stages'
import { happens, oneOf } from './chance.ts'
import type { Chance } from './chance.ts'
import type { Swarm } from './swarm.ts'
import type { Owner, VirtualTime } from './virtual-time.ts'

/** A process that takes requests. */
export interface Served {
  readonly name: string
  readonly stages: Stages
  readonly mqtt: MqttDoor
  readonly owner: Owner
  readonly nowMs: () => number
}

export interface AskingParts {
  readonly time: VirtualTime
  readonly chance: Chance
  readonly swarm: Swarm
  readonly delayMs: () => number
  readonly served: () => readonly Served[]
  /** False in the healthy phase. */
  readonly isFaulty: () => boolean
}

/** The answer to a request; `none` when it got lost, or never comes. */
export type Told<Value> = { readonly value: Value } | { readonly error: string } | 'none'

/** An answer without the faults, which are told by their codes. */
type Good<Value> = Exclude<Value, { readonly code: string }>

/** Asks one of the processes. */
export type Ask = <Value>(
  work: (stages: Stages, caller: Caller) => Promise<Value> | Value,
  patienceMs?: number,
) => Promise<Told<Good<Value>>>

const ANSWER_MS = 12_000

export const askerOf =
  ({ time, chance, swarm, delayMs, served, isFaulty }: AskingParts): Ask =>
  <Value>(
    work: (stages: Stages, caller: Caller) => Promise<Value> | Value,
    patienceMs = ANSWER_MS,
  ): Promise<Told<Good<Value>>> => {
    const all = served()
    if (all.length === 0) return Promise.resolve({ error: 'refused' })
    const { stages, owner, nowMs } = oneOf(chance, all)
    const isLost = isFaulty() && happens(chance, swarm.chances.senderLosesAnswer)
    return new Promise((resolve) => {
      const patience = time.after(patienceMs, () => resolve('none'))
      const tell = (told: Told<Good<Value>>): void => {
        if (isLost || owner.state === 'dead') return
        time.after(delayMs(), () => {
          patience.run = undefined
          resolve(told)
        })
      }
      const arrive = (): void => {
        const answered = async (): Promise<Value> => work(stages, { receivedAtMs: nowMs() })
        answered().then(
          (value) => tell(isFault(value) ? { error: value.code } : { value: value as Good<Value> }),
          () => tell({ error: 'threw' }),
        )
      }
      time.after(delayMs(), arrive, owner)
    })
  }

export const errorOf = (told: Told<unknown>): string =>
  told === 'none' ? 'none' : 'error' in told ? told.error : 'done'
