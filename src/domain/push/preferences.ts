// What a device wants to be pushed of a channel, and when quietly. It rules pushes by providers;
// what a device reads is complete. (Specification: Preferences of a subscription)
//
// Invariants:
//   preferences/1. A process remembers READ_MAX preferences and CLOCKS_MAX time zones at most. (W7)

import type { Event } from '#domain/entity'
import type { FeedEntry } from '#domain/feed'
import type { ChannelId, DeviceId } from '#domain/identity'
import { DEFAULT_SEVERITY, SEVERITIES } from '#domain/submission'
import type { Fields, Model, Severity } from '#domain/submission'
import { severityOf } from './entry-text.ts'

export const QUIET_MAX = 8
export const PREFERRED_THINGS_MAX = 100
/** In the order of the week, as a window's `days` name them. */
export const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const

/** A time of each day, or of each of some days, within which pushes make no sound. */
export interface QuietWindow {
  /** The days on which it begins; absent for every day. */
  readonly days?: readonly (typeof DAYS)[number][]
  /** 22:00 on the clocks of the time zone. */
  readonly from: string
  /** Not later than `from` for a time of the next day. */
  readonly to: string
  readonly time_zone: string
  /** Of this severity and above pushes sound all the same. */
  readonly unless?: Severity
}

/** The preferences of a subscription, as they are sent and kept. */
export interface Preferences {
  readonly min_severity?: Severity
  readonly level?: number
  readonly models?: readonly Model[]
  readonly things?: { readonly ids: readonly string[] } | { readonly prefix: string }
  readonly quiet?: readonly QuietWindow[]
}

/** The preferences of subscriptions, as the store keeps them. */
export interface PreferenceStore {
  /** Replaces the preferences of a subscription; false without one. */
  setPreferences(deviceId: DeviceId, channelId: ChannelId, notify: Preferences): Promise<boolean>
  /** The preferences of a subscription, empty for none; undefined without a subscription. */
  preferences(deviceId: DeviceId, channelId: ChannelId): Promise<Preferences | undefined>
}

/** The parts of an entry that preferences look at. */
export interface Pushable {
  readonly model: Model
  readonly severity: Severity
  /** How far an Event has escalated. */
  readonly level: number
  /** The Thing that the entry is about; undefined for none. */
  readonly thingId: string | undefined
}

/**
 * Returns what preferences look at in an entry with these fields. `present` has the present fields
 * of its Event, for the entries that do not repeat them.
 */
export function pushableOf(
  { model, entityId }: Pick<FeedEntry, 'model' | 'entityId'>,
  own: Fields,
  present: Fields = {},
): Pushable {
  const valueOf = (name: string): unknown => (name in own ? own[name] : present[name])
  const filed = valueOf('thing_id')
  const filedUnder = typeof filed === 'string' && filed !== '' ? filed : undefined
  return {
    model,
    severity: model === 'thing' ? DEFAULT_SEVERITY : severityOf(valueOf('severity')),
    level: model === 'event' ? levelIn(valueOf('level')) : 0,
    thingId: model === 'thing' ? entityId : filedUnder,
  }
}

/** The present fields of an Event, with how far it has escalated. */
export const presentFieldsOf = ({ fields: { values }, attention }: Event): Fields =>
  attention?.level === undefined ? values : { ...values, level: attention.level }

const levelIn = (level: unknown): number => (typeof level === 'number' ? level : 0)

const isBelow = (one: Severity, other: Severity): boolean =>
  SEVERITIES.indexOf(one) > SEVERITIES.indexOf(other)

/** True when the preferences leave an entry out: its device gets no push of it. */
export function isFiltered(
  { min_severity: least, level = 0, models, things }: Preferences,
  pushable: Pushable,
): boolean {
  const { model, severity, thingId } = pushable
  if (models !== undefined && !models.includes(model)) return true
  if (least !== undefined && isBelow(severity, least)) return true
  if (pushable.level < level) return true
  if (things === undefined || thingId === undefined) return false
  return 'ids' in things ? !things.ids.includes(thingId) : !thingId.startsWith(things.prefix)
}

const MINUTE_MS = 60_000
/** Time zones whose clock is kept. */
const CLOCKS_MAX = 1_000
/** Preferences that are kept as they were read. */
const READ_MAX = 1_000

/** A time on the clocks of a time zone. */
interface LocalTime {
  /** The minute since 1970 for which it was found out. */
  readonly at: number
  /** 0 for Sunday. */
  readonly day: number
  /** Minutes since midnight. */
  readonly minute: number
}

/** Reads kept preferences, and looks at the clocks of their time zones once a minute. */
export class PreferenceReader {
  readonly #read = new Map<string, Preferences>()
  readonly #formats = new Map<string, Intl.DateTimeFormat>()
  readonly #times = new Map<string, LocalTime>()

  /** `text` is JSON that `readPreferences` has accepted. */
  read(text: string): Preferences {
    const known = this.#read.get(text)
    if (known !== undefined) return known
    const preferences = JSON.parse(text) as Preferences
    if (this.#read.size >= READ_MAX) this.#read.clear() // preferences/1
    this.#read.set(text, preferences)
    return preferences
  }

  /** The preferences and time zones that it remembers. */
  get size(): number {
    return this.#read.size + this.#formats.size
  }

  /** True when a push of this severity makes no sound now. */
  isQuiet({ quiet = [] }: Preferences, severity: Severity, nowMs: number): boolean {
    return quiet.some(
      (window) =>
        (window.unless === undefined || isBelow(severity, window.unless)) &&
        isWithin(window, this.#timeIn(window.time_zone, nowMs)),
    )
  }

  #timeIn(timeZone: string, nowMs: number): LocalTime {
    const at = Math.floor(nowMs / MINUTE_MS)
    const known = this.#times.get(timeZone)
    if (known?.at === at) return known
    const time = { at, ...localTime(this.#formatFor(timeZone), nowMs) }
    this.#times.set(timeZone, time)
    return time
  }

  #formatFor(timeZone: string): Intl.DateTimeFormat {
    const known = this.#formats.get(timeZone)
    if (known !== undefined) return known
    // preferences/1
    if (this.#formats.size >= CLOCKS_MAX) {
      this.#formats.clear()
      this.#times.clear()
    }
    const format = clockOf(timeZone)
    this.#formats.set(timeZone, format)
    return format
  }
}

const clockOf = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })

/** The name by which the platform knows a time zone; undefined for one that it does not know. */
export function knownTimeZone(name: string): string | undefined {
  try {
    return clockOf(name).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}

function localTime(format: Intl.DateTimeFormat, nowMs: number): Omit<LocalTime, 'at'> {
  const parts = new Map(format.formatToParts(nowMs).map(({ type, value }) => [type, value]))
  return {
    day: DAYS.findIndex((day) => day === parts.get('weekday')?.toLowerCase()),
    minute: Number(parts.get('hour')) * 60 + Number(parts.get('minute')),
  }
}

/** A window that ends on the next day belongs to the day on which it begins. */
function isWithin({ days, from, to }: QuietWindow, { day, minute }: LocalTime): boolean {
  const beginsOn = (weekday: number): boolean =>
    days === undefined || days.some((name) => name === DAYS[(weekday + 7) % 7])
  const [first, end] = [minutesOf(from), minutesOf(to)]
  if (first < end) return minute >= first && minute < end && beginsOn(day)
  return (minute >= first && beginsOn(day)) || (minute < end && beginsOn(day - 1))
}

const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3))
