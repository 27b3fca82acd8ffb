// The queue of a fleet sender: items with one key form a line, of which one item is sent at a time.
//
// Invariants:
//   fleet-queue/1. At most one item of each line is taken at a time, the oldest first. An item that
//     is put back is the next of its line.

import type * as Wire from './bodies.ts'
import type { Client } from './client.ts'
import type { HeliographError } from './error.ts'

// Types the submissions of a fleet sender, and has the rules of their order and repeats.

/** A submission; `tag` is a value of the caller, who gets it with the outcome. */
export type FleetSubmission<Tag = unknown> = { readonly tag?: Tag } & (
  | { readonly model: 'message'; readonly action: 'send'; readonly body: Wire.MessageBody }
  | { readonly model: 'event'; readonly action: 'create'; readonly body: Wire.EventCreateBody }
  | { readonly model: 'event'; readonly action: 'update'; readonly body: Wire.EventUpdateBody }
  | { readonly model: 'event'; readonly action: 'close'; readonly body: Wire.EventCloseBody }
  | { readonly model: 'thing'; readonly action: 'create'; readonly body: Wire.ThingCreateBody }
  | {
      readonly model: 'thing'
      readonly action: 'update' | 'archive'
      readonly body: Wire.ThingUpdateBody
    }
  | { readonly model: 'thing'; readonly action: 'delete'; readonly body: Wire.ThingDeleteBody }
)

/** The ids of an accepted submission. */
export type FleetAccepted = Wire.AcceptedMessage | Wire.AcceptedEvent | Wire.AcceptedThing

/** Submits once. */
export function submitOnce(client: Client, submission: FleetSubmission): Promise<FleetAccepted> {
  const options = { repeat: false }
  const { message, event, thing } = client
  if (submission.model === 'message') return message.send(submission.body, options)
  if (submission.model === 'event') {
    if (submission.action === 'create') return event.create(submission.body, options)
    if (submission.action === 'update') return event.update(submission.body, options)
    return event.close(submission.body, options)
  }
  if (submission.action === 'create') return thing.create(submission.body, options)
  if (submission.action === 'delete') return thing.delete(submission.body, options)
  if (submission.action === 'update') return thing.update(submission.body, options)
  return thing.archive(submission.body, options)
}

/**
 * The key of the submissions that keep their order: those of one Event, and those of one Thing with
 * the Messages about it. Undefined for one without an order.
 */
export function orderKeyOf({ body }: FleetSubmission): string | undefined {
  // A key stands for its channel.
  const { password, channel_id = password } = body
  if ('event_id' in body) return `${channel_id} event ${body.event_id}`
  if ('thing_id' in body && body.thing_id !== undefined) return `${channel_id} ${body.thing_id}`
  return undefined
}

/**
 * Returns a Message an op_id where it has none: the gateway then takes a repeat for the same
 * Message. (docs/decisions.md 6)
 */
export function repeatable<Tag>(
  submission: FleetSubmission<Tag>,
  makeOpId: () => string,
): FleetSubmission<Tag> {
  if (submission.model !== 'message' || submission.body.op_id !== undefined) return submission
  return { ...submission, body: { ...submission.body, op_id: makeOpId() } }
}

type Key = string | symbol

interface Line<Item> {
  readonly items: Item[]
  isTaken: boolean
}

export interface Taken<Item> {
  readonly key: Key
  readonly item: Item
}

export class FleetQueue<Item> {
  /** The number of waiting items. */
  size = 0
  readonly #lines = new Map<Key, Line<Item>>()
  /** Keys of the lines whose next item may be taken, in order. */
  readonly #ready: Key[] = []

  /** Adds an item behind those with its key; without one it waits for no other. */
  add(key: string | undefined, item: Item): void {
    const own: Key = key ?? Symbol('no order')
    const line = this.#lines.get(own) ?? { items: [], isTaken: false }
    this.#lines.set(own, line)
    line.items.push(item)
    this.size += 1
    if (line.items.length === 1 && !line.isTaken) this.#ready.push(own)
  }

  /** Takes the next item of the next ready line. The caller releases it or puts it back. */
  take(): Taken<Item> | undefined {
    const key = this.#ready.shift()
    const line = key === undefined ? undefined : this.#lines.get(key)
    const item = line?.items.shift()
    if (key === undefined || line === undefined || item === undefined) return undefined
    line.isTaken = true // fleet-queue/1
    this.size -= 1
    return { key, item }
  }

  /** Ends a taken item: the next one of its line may be taken. */
  release({ key }: Taken<Item>): void {
    const line = this.#lines.get(key)
    if (line === undefined) return
    line.isTaken = false
    if (line.items.length > 0) this.#ready.push(key)
    else this.#lines.delete(key)
  }

  /** Makes a taken item wait again, before all others. */
  putBack({ key, item }: Taken<Item>): void {
    const line = this.#lines.get(key)
    if (line === undefined) return
    line.isTaken = false
    line.items.unshift(item) // fleet-queue/1
    this.size += 1
    this.#ready.unshift(key)
  }

  /** Removes all waiting items and gives them. */
  clear(): readonly Item[] {
    const items = [...this.#lines.values()].flatMap((line) => line.items.splice(0))
    this.#ready.length = 0
    this.size = 0
    return items
  }
}

// Decides after an error whether the gateway has the submission, and whether to try again.
//
// Invariants:
//   fleet-verdict/1. The sender repeats a submission with an unknown outcome only when a repeat has
//     no second effect.

type Verdict =
  /** The gateway does not have it, and may accept it later. */
  | 'again'
  /** The gateway does not accept it. */
  | 'refused'
  /** The gateway may have it or not. */
  | 'unknown'

/** With `repeatsUpdates` a repeated Thing update counts as one without a second effect. */
export function verdictOn(
  submission: FleetSubmission,
  error: HeliographError,
  repeatsUpdates: boolean,
): Verdict {
  if (!leavesOpen(error)) return error.retryable ? 'again' : 'refused'
  const isSafe = submission.model === 'message' || (repeatsUpdates && isReading(submission))
  return isSafe ? 'again' : 'unknown' // fleet-verdict/1
}

/** True when the gateway may or may not have the submission. */
export const leavesOpen = ({ code, status }: HeliographError): boolean =>
  code === 'submission_outcome_unknown' ||
  code === 'connection_failed' ||
  (code === 'answer_invalid' && status >= 500)

/** The same values with the same time change nothing the second time. (docs/decisions.md 4) */
const isReading = ({ model, action }: FleetSubmission): boolean =>
  model === 'thing' && action === 'update'
