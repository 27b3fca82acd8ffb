// Exports: everything that a channel keeps, as a stream of lines. (Specification: Export)

import { fault, isFault } from '#domain/fault'
import { TIERS, firstKept } from '#domain/history/series'
import type { Tier, TierRetention } from '#domain/history/series'
import type { Fault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { Caller } from '#src/acceptance/caller'
import type { OpenChannel } from '#src/acceptance/channel-access'
import { deviceIdOf } from '#src/acceptance/devices/device-identity'
import { foreignThing } from '#src/acceptance/key-rights'
import { FewAtOnce } from '#src/acceptance/queries/few-at-once'
import type { Stage } from '#src/acceptance/stage'
import type { Reader } from '#src/schemas/credentials'
import { EXPORT } from '#src/schemas/history/export-routes'
import { readersOf } from '#src/schemas/shape'
import { ExportLines } from './export-lines.ts'
import type { ExportPlan } from './export-lines.ts'

const READ = readersOf(EXPORT)

/** A text that is made while it is sent. */
export interface TextStream {
  readonly open: (signal: AbortSignal) => AsyncIterable<string>
}

/** Exports at once: of one channel, and of all in this process. */
const EXPORTS_MAX = { ofChannel: 2, max: 16, what: 'exports', retryAfterMs: 10_000 }

export class Exports {
  readonly #ports: Stage
  readonly #tiers: TierRetention
  readonly #few = new FewAtOnce(EXPORTS_MAX)

  constructor(ports: Stage, tiers: TierRetention) {
    this.#ports = ports
    this.#tiers = tiers
    ports.meter.gauge('channel_exports', {}, () => this.#few.running)
  }

  /** A stream of lines; rate_limited or server_busy beyond the bounds. (few-at-once/1) */
  async export(fields: unknown, caller: Caller): Promise<Answer<TextStream>> {
    const { access, read, series } = this.#ports
    const opened = await access.open({
      fields,
      caller,
      read: (sent) => {
        const request = READ.export(sent)
        return isFault(request) ? request : { ...request.reader, request }
      },
      scope: 'read',
    })
    if (isFault(opened)) return opened
    const { channelId, key } = opened
    const { reader, thingPrefix = '', step, ...plan } = opened.request.request
    const narrowed = narrowest(thingPrefix, key?.thingPrefix ?? '')
    if (narrowed === undefined) {
      return key === undefined ? fault('key_scope') : access.refuse(caller, foreignThing(key))
    }
    const busy = this.#few.refusal(channelId)
    if (busy !== undefined) return busy
    const refusal = () => this.#refusal({ channelId, key }, reader)
    const ports = { read, series, refusal }
    const kept = this.#kept(step, plan)
    const whole: ExportPlan = { ...plan, channelId, thingPrefix: narrowed, series: kept }
    return {
      open: (signal) => this.#counted(channelId, new ExportLines(whole, ports, signal)),
    }
  }

  async *#counted(channelId: ChannelId, lines: ExportLines): AsyncGenerator<string> {
    const slot = this.#few.take(channelId)
    if (isFault(slot)) {
      yield lines.cut(slot.code) // Others began since it was looked at.
      return
    }
    try {
      yield* lines.lines()
    } finally {
      slot.release()
    }
  }

  /** Returns the series of the asked step; without a step, the hour's or those that are kept. */
  #kept(asked: Tier | undefined, { fromMs = 0, toMs }: Times): ExportPlan['series'] {
    const tiers = this.#tiers
    const step = asked ?? (['1h', ...TIERS] as const).find((tier) => tiers[tier] > 0)
    if (step === undefined || tiers[step] === 0) return undefined
    const nowMs = this.#ports.nowMs()
    return { step, from: Math.max(fromMs, firstKept(step, tiers, nowMs)), to: toMs ?? nowMs }
  }

  /** Why the reader may not read any more. */
  async #refusal(open: OpenChannel, reader: Reader): Promise<Fault | undefined> {
    const { access, subscriptions } = this.#ports
    if (reader.kind === 'password') return access.refusalSince(open, reader.password)
    const deviceId = deviceIdOf(reader.deviceKey)
    const device = await subscriptions.subscribed(deviceId, open.channelId)
    return device === undefined ? fault('channel_not_found') : undefined
  }
}

type Times = Pick<ExportPlan, 'fromMs' | 'toMs'>

/** The longer one of two beginnings of ids; undefined when no id has both. */
function narrowest(asked: string, allowed: string): string | undefined {
  if (asked.startsWith(allowed)) return asked
  return allowed.startsWith(asked) ? allowed : undefined
}
