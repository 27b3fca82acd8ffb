// The refusals of a channel's submissions within the last hour, in memory, for whoever looks for
// what is wrong with a program or a device.
//
// Invariants:
//   kept-refusals/1. Channels and the kinds of refusals of each are bounded: those refused longest
//                    ago go. A kind that comes again counts, and takes no more room.
//   kept-refusals/2. Nothing that was sent is kept but the name of a field: a refusal is its fault,
//                    cut to a length.

import { keepNewest } from '#domain/bounds/newest'
import type { Fault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { NowMs } from '#domain/ports'
import type { Meter } from '#domain/telemetry'
import type { KeptRefusal } from '#src/schemas/operator/refusal-routes'

const KEPT_MS = 3_600_000
const CHANNELS_MAX = 1_000
const KINDS_MAX = 32
const DETAIL_MAX = 200

/** What was submitted. */
type Refused = Pick<KeptRefusal, 'model' | 'action'>

export class KeptRefusals {
  readonly #nowMs: NowMs
  /** The channel that was refused last stands last, as the kind does within it. */
  readonly #channels = new Map<ChannelId, Map<string, KeptRefusal>>()

  constructor({ nowMs, meter }: { readonly nowMs: NowMs; readonly meter: Meter }) {
    this.#nowMs = nowMs
    meter.gauge('channels_with_refusals', {}, () => this.#channels.size)
  }

  /** Keeps the refusal of a submission to a channel. */
  note(channelId: ChannelId, { model, action }: Refused, { code, field, detail }: Fault): void {
    const kinds = this.#channels.get(channelId) ?? new Map<string, KeptRefusal>()
    this.#channels.delete(channelId)
    this.#channels.set(channelId, kinds)
    const text = detail ?? field
    const said = text?.slice(0, DETAIL_MAX) // kept-refusals/2
    const kind = `${model} ${action} ${code} ${said ?? ''}`
    const at = this.#nowMs()
    const { count = 0, firstAt = at } = kinds.get(kind) ?? {}
    kinds.delete(kind)
    const refusal = { model, action, code, count: count + 1, firstAt, lastAt: at }
    kinds.set(kind, said === undefined ? refusal : { ...refusal, detail: said })
    keepNewest(kinds, KINDS_MAX) // kept-refusals/1
    keepNewest(this.#channels, CHANNELS_MAX)
  }

  /** Returns those of the last hour, the newest first. */
  of(channelId: ChannelId): readonly KeptRefusal[] {
    const sinceMs = this.#nowMs() - KEPT_MS
    const kinds = this.#channels.get(channelId) ?? new Map<string, KeptRefusal>()
    for (const [kind, { lastAt }] of kinds) if (lastAt < sinceMs) kinds.delete(kind)
    if (kinds.size === 0) this.#channels.delete(channelId)
    return [...kinds.values()].toReversed()
  }
}
