// What the world outside has seen: the judge's only knowledge beside the final state.

export type Model = 'thing' | 'message' | 'event'

/** One submission of a sender, with all its attempts. */
export interface Sent {
  /** Stands in the content of this submission alone. */
  readonly token: number
  readonly channelId: string
  readonly model: Model
  /** The Thing, and the key of its attrs that gets the token; '' for others. */
  readonly thingId: string
  readonly key: string
  readonly observedAt: number
  /** When it was sent first, by the time of the world. */
  readonly sentMs: number
  /** When its sender learned that it is accepted; Infinity until then. */
  knownMs: number
  /** Seconds for which a Message waits before it enters the feed; 0 for none. */
  readonly delayS: number
  /** Whether somebody takes the Message back: `open` without an answer, `late` when it had gone. */
  cancellation: 'none' | 'open' | 'done' | 'late'
  opId: string | undefined
  /** True for what an MQTT client publishes without a name: its session tells repeats apart. */
  readonly isUnnamed: boolean
  /** True for an Event that asks for people. */
  readonly isAsking: boolean
  /** `open` until an attempt is answered. `unknown`: it may be applied, now or later. */
  outcome: 'open' | 'accepted' | 'refused' | 'unknown'
}

/** A change of a rule by whoever administers its channel, one after the other. */
export interface RuleChange {
  /** The level above which it fires; undefined while it is disabled or deleted. */
  readonly above: number | undefined
  readonly isDeleted: boolean
  /** When it was sent, by the time of the world. */
  readonly sentMs: number
  /** When the answer came; Infinity until then: it may be applied, now or later. */
  knownMs: number
  opId: string | undefined
}

/** A broken sentence. */
export interface Broken {
  readonly sentence: string
  readonly detail: string
}

/** The judge's view of a device. */
export interface DeviceView {
  readonly name: string
  readonly deviceId: string
  /** By channel, Thing and key. */
  readonly values: ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, unknown>>>
  /** op_ids of the Messages and Events that it got. */
  readonly got: ReadonlySet<string>
}

/** The judge's view of what gets Messages and Events and keeps no state. */
export interface ReceiverView extends Pick<DeviceView, 'name' | 'deviceId' | 'got'> {
  /** What is broken when it lacks one. */
  readonly sentence: string
}

export class Observations {
  readonly sent: Sent[] = []
  readonly broken: Broken[] = []
  /** The changes of the rule of each channel that has one which changes, the first put included. */
  readonly ruleChanges = new Map<string, RuleChange[]>()
  /** The acknowledgements that were accepted, by op_id. */
  readonly acknowledged = new Map<string, { channelId: string; isSnoozed: boolean }>()
  /** The hash of everything that happened, event by event. */
  #hash = 0x811c9dc5
  readonly #trace: ((line: string) => void) | undefined
  readonly #nowMs: () => number

  constructor(nowMs: () => number, trace?: (line: string) => void) {
    this.#nowMs = nowMs
    this.#trace = trace
  }

  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0')
  }

  /** Notes that something happened. */
  note(what: string): void {
    const line = `${this.#nowMs().toFixed(3)} ${what}`
    for (let at = 0; at < line.length; at += 1) {
      this.#hash = Math.imul(this.#hash ^ line.charCodeAt(at), 0x01000193)
    }
    this.#trace?.(line)
  }

  break(sentence: string, detail: string): void {
    this.broken.push({ sentence, detail })
    this.note(`BROKEN ${sentence}: ${detail}`)
  }
}
