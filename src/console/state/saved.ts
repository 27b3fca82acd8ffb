// What this browser keeps: channels with their secrets, the gateway token, and how the page looks.
// Secrets stay in its storage; nothing here ever becomes a part of an address that is sent.
//
// Invariants:
//   saved/1. A link replaces no gateway token that is kept here unless the person says so.

import { effect, signal } from '@preact/signals'

import { isRecord, textIn } from '#domain/record'

/** A channel that this browser opens. */
export interface SavedChannel {
  readonly id: string
  readonly name: string
  /** A key of the channel, or its password where no key could be made. A secret. */
  readonly secret: string
}

export type Theme = 'auto' | 'light' | 'dark'
export type Language = 'en' | 'zh-CN'

/** A device of this browser: one for each of its tabs that are open at once. */
export interface SavedDevice {
  /** A secret. */
  readonly deviceKey: string
  /** The ids of the channels that it is subscribed to. */
  readonly channels: readonly string[]
}

/** A Message that waits for its time. */
export interface ScheduledMessage {
  readonly channelId: string
  readonly opId: string
  readonly title: string
  /** Unix milliseconds. */
  readonly at: number
}

/** A search that a person keeps; `channelId` is '' for one of all channels. */
export interface SavedSearch {
  readonly channelId: string
  readonly text: string
}

const NAME = 'heliograph console'

const kept = read()

export const token = signal(textIn(kept['token']) ?? '')
/** True for a gateway token that would take the place of another one. '' stands for none. */
export const replacesToken = (other: string): boolean =>
  other !== '' && token.peek() !== '' && other !== token.peek() // saved/1

export const theme = signal<Theme>(themeIn(kept['theme']))
export const language = signal<Language>(languageIn(kept['language']))
export const channels = signal(listOf<SavedChannel>(kept['channels'], 'id'))
/** The device to which the gateway pushes; its key is '' before any. */
export const pushed = signal(deviceOf(kept['pushed']))
export const devices = signal(listOf<SavedDevice>(kept['devices'], 'deviceKey'))
export const scheduled = signal(listOf<ScheduledMessage>(kept['scheduled'], 'opId'))
export const searches = signal(listOf<SavedSearch>(kept['searches'], 'text'))
/** False where a person wants no key of a letter alone to do something. */
export const hasShortcuts = signal(kept['hasShortcuts'] !== false)

/** False where the browser keeps nothing: then secrets last as long as the page. */
export const isKept = signal(true)

effect(() => {
  const text = JSON.stringify({
    token: token.value,
    theme: theme.value,
    language: language.value,
    channels: channels.value,
    devices: devices.value,
    pushed: pushed.value,
    scheduled: scheduled.value,
    searches: searches.value,
    hasShortcuts: hasShortcuts.value,
  })
  try {
    localStorage.setItem(NAME, text)
  } catch {
    // Private windows of some browsers have no storage.
    isKept.value = false
  }
})

function read(): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(localStorage.getItem(NAME) ?? '{}')
    return isRecord(parsed) ? parsed : {}
  } catch {
    return {}
  }
}

function themeIn(value: unknown): Theme {
  return value === 'light' || value === 'dark' ? value : 'auto'
}

function languageIn(value: unknown): Language {
  if (value === 'en' || value === 'zh-CN') return value
  return navigator.languages.find((tag) => /^(en|zh)\b/i.test(tag))?.startsWith('zh') === true
    ? 'zh-CN'
    : 'en'
}

function deviceOf(value: unknown): SavedDevice {
  const [known] = listOf<SavedDevice>([value], 'deviceKey')
  return known ?? { deviceKey: '', channels: [] }
}

/** The records of a list that have a text under a name; the page wrote them itself. */
function listOf<Item>(value: unknown, name: string): readonly Item[] {
  if (!Array.isArray(value)) return []
  return value.filter((item) => isRecord(item) && typeof item[name] === 'string') as Item[]
}

/** Adds a channel, or replaces what is known of it. */
export function keepChannel(channel: SavedChannel): void {
  const others = channels.value.filter(({ id }) => id !== channel.id)
  channels.value = [...others, channel].toSorted((a, b) => a.name.localeCompare(b.name))
}

export function forgetChannel(id: string): void {
  searches.value = searches.value.filter(({ channelId }) => channelId !== id)
  channels.value = channels.value.filter((channel) => channel.id !== id)
}
