// What a notification shows of a push (docs/providers.md, Web Push), and what its buttons do.

import { ACTIONS_KEY, offeredActions } from '#src/schemas/fields/message-actions'
import type { MessageAction } from '#src/schemas/fields/message-actions'
import { recordFrom } from '#domain/record'
import { UNIT_MS } from '#domain/runtime'
import { NOTIFICATION_EN } from '#console/words/notification-en.ts'
import { NOTIFICATION_ZH_CN } from '#console/words/notification-zh-cn.ts'
import type { Acknowledging, Outcome } from './acknowledging.ts'
import type { PushedDevice } from './device.ts'

type Language = PushedDevice['language']
/** Who is told: a device is not told its own name. */
type Listener = Pick<PushedDevice, 'language' | 'label'>
type WordName = keyof typeof NOTIFICATION_EN

const WORDS = { en: NOTIFICATION_EN, 'zh-CN': NOTIFICATION_ZH_CN } as const

const wordsIn =
  (language: Language) =>
  (name: WordName, values: Readonly<Record<string, string>> = {}): string =>
    WORDS[language][name].replace(/\{(\w+)\}/g, (_, place: string) => values[place] ?? '')

/** The part of a push that is shown. All of `data` is text. */
export interface Pushed {
  readonly title: string
  readonly body?: string
  readonly navigate?: string
  readonly tag?: string
  readonly silent?: boolean
  readonly timestamp?: number
  readonly data?: Readonly<Record<string, string>>
}

/** What a notification keeps for its clicks. */
export interface Kept {
  readonly hash: string
  readonly actions: readonly MessageAction[]
  /** The Event that its buttons acknowledge. */
  readonly event?: Pick<Acknowledging, 'channelId' | 'eventId' | 'title' | 'tag'>
}

/** The arguments of `showNotification`. */
export interface Notice {
  readonly title: string
  readonly options: {
    readonly body: string
    readonly tag: string
    readonly data: Kept
    readonly icon: string
    readonly silent: boolean
    readonly renotify: boolean
    readonly requireInteraction: boolean
    readonly actions: readonly { readonly action: string; readonly title: string }[]
    readonly timestamp?: number | undefined
  }
}

const ICON = 'icon-192.png'
/** The buttons of an Event, with the snooze of each. */
const BUTTONS = [
  ['acknowledge', 'acknowledge', ''],
  ['snooze', 'snoozeHour', '1h'],
] as const

/** The notification of a push; `hash`: the place in the page that it leads to. */
export function noticeOf(pushed: Pushed, hash: string, device: Listener): Notice {
  const { language } = device
  const { title, tag = '', silent, timestamp, data = {} } = pushed
  const { model, action, state, channel_id: channelId = '', entity_id: eventId = '' } = data
  const t = wordsIn(language)
  const isTaken = model === 'event' && action === 'acknowledge'
  const isAsked = model === 'event' && state === 'open' && !isTaken
  const actions = offeredActions(recordFrom(data['metadata'] ?? '')[ACTIONS_KEY])
  const buttons = isAsked ? BUTTONS.map(([name, word]) => ({ action: name, title: t(word) })) : []
  const isQuiet = silent === true || isTaken
  return {
    title,
    options: {
      body: bodyOf(pushed, device),
      // A browser shows as many as it has room for.
      actions: [
        ...buttons,
        ...actions.map(({ label }, at) => ({ action: String(at), title: label })),
      ],
      // A later update of the same Thing or Event takes the place of this one.
      tag,
      renotify: tag !== '' && !isQuiet,
      silent: isQuiet,
      timestamp,
      requireInteraction: data['severity'] === 'critical' && !isTaken,
      icon: ICON,
      data: { hash, actions, ...(isAsked && { event: { channelId, eventId, title, tag } }) },
    },
  }
}

/** What people and deadlines did about an Event, in the person's language; else the push's own. */
function bodyOf({ body = '', data = {} }: Pushed, { language, label }: Listener): string {
  const t = wordsIn(language)
  const { action, reminders: n, level, note = '' } = data
  if (action === 'remind' && n !== undefined) return t('reminderOf', { n })
  if (action === 'escalate' && level !== undefined) return t('escalatedTo', { n: level })
  if (action !== 'acknowledge') return body
  const { acknowledged_by: who, snoozed_until: until } = data
  const other = who === label ? undefined : who
  const said = heldBy(other, until === undefined ? undefined : Number(until), language)
  return [said, note].filter(Boolean).join(' · ')
}

function heldBy(who: string | undefined, until: number | undefined, language: Language): string {
  const t = wordsIn(language)
  if (until === undefined)
    return who === undefined ? t('acknowledgedWord') : t('acknowledgedBy', { who })
  const time = new Date(until).toLocaleTimeString(language, { timeStyle: 'short' })
  return who === undefined ? t('snoozedUntil', { time }) : t('snoozedBy', { who, time })
}

/** True for the push that ends an Event: its notification goes. */
export const isEnd = ({ data = {} }: Pushed): boolean =>
  data['model'] === 'event' && data['state'] === 'closed'

/** What a press on a button wants; undefined for one that acknowledges nothing. */
export function wishOf(button: string, { event }: Kept, at: number): Acknowledging | undefined {
  const found = BUTTONS.find(([name]) => name === button)
  return event && found && { ...event, at, snooze: found[2] }
}

/** The notification that takes the place of the one whose button was pressed. */
export function outcomeNotice(
  { channelId, eventId, title, tag, at, snooze }: Acknowledging,
  outcome: Outcome,
  language: Language,
): Notice {
  const t = wordsIn(language)
  const body = {
    done: () => heldBy(undefined, snooze === '' ? undefined : at + UNIT_MS.h, language),
    waiting: () => t('acknowledgeWaits'),
    refused: () => `${t('acknowledgeFailed')}: ${outcome.kind === 'refused' ? outcome.text : ''}`,
  }[outcome.kind]()
  return {
    title,
    options: {
      body,
      tag,
      silent: true,
      renotify: false,
      requireInteraction: false,
      actions: [],
      icon: ICON,
      data: { hash: `#/${channelId}/event/${encodeURIComponent(eventId)}`, actions: [] },
    },
  }
}
