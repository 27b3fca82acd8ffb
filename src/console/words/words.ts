// Texts in the language that the person has chosen.

import { HeliographError } from '#src/client/error'
import { language } from '#console/state/saved.ts'
import { EN } from './en.ts'
import type { WordName } from './en.ts'
import { ZH_CN } from './zh-cn.ts'

export type { WordName } from './en.ts'

const WORDS = { en: EN, 'zh-CN': ZH_CN } as const

/** The text of a name, with its places filled. */
export function t(name: WordName, values: Readonly<Record<string, string | number>> = {}): string {
  const text: string = WORDS[language.value][name]
  return text.replace(/\{(\w+)\}/g, (_, place: string) => String(values[place] ?? ''))
}

/** What went wrong, as a sentence for a person. */
export function sentenceOf(error: unknown): string {
  if (error instanceof HeliographError) {
    if (error.status === 0) return t('errorAway')
    const { sentence = error.message, detail } = error
    // Which member of a rule is at fault is said by its path alone.
    return error.code === 'validation_failed' && detail !== undefined
      ? `${sentence} (${detail})`
      : sentence
  }
  if (error instanceof SyntaxError) return error.message
  return t('errorOther', { text: error instanceof Error ? error.message : String(error) })
}

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** A span of time in its largest unit. */
export function span(ms: number): string {
  const size = Math.max(0, ms)
  if (size < MINUTE_MS) return t('seconds', { n: Math.floor(size / SECOND_MS) })
  if (size < HOUR_MS) return t('minutes', { n: Math.floor(size / MINUTE_MS) })
  if (size < 2 * DAY_MS) return t('hours', { n: Math.floor(size / HOUR_MS) })
  return t('days', { n: Math.floor(size / DAY_MS) })
}

/** How long ago something was; `now` for the last seconds. */
export function age(ms: number): string {
  return ms < 2 * SECOND_MS ? t('now') : t('ago', { age: span(ms) })
}

/** The person's own form of the language, as en-GB, for times. */
const locale = (): string =>
  navigator.languages.find((tag) => tag.startsWith(language.value.slice(0, 2))) ?? language.value

const formats = new Map<string, Intl.DateTimeFormat>()

/** The format of a name, made once for each language. */
function formatOf(name: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${language.value} ${name}`
  const format = formats.get(key) ?? new Intl.DateTimeFormat(locale(), options)
  formats.set(key, format)
  return format
}

/** A time of day, with its date when that is not today's. */
export function moment(atMs: number, presentMs: number): string {
  const isToday = new Date(atMs).toDateString() === new Date(presentMs).toDateString()
  const format = isToday
    ? formatOf('time', { timeStyle: 'medium' })
    : formatOf('moment', { dateStyle: 'medium', timeStyle: 'short' })
  return format.format(atMs)
}

/** A day that the gateway names, as 2026-01-31. */
export const dayText = (day: string): string =>
  formatOf('day', { dateStyle: 'medium', timeZone: 'UTC' }).format(Date.parse(day))

/** A time on the axis of a chart: the time of day, or the day at its beginning. */
export function clockText(atMs: number): string {
  const isMidnight = new Date(atMs).getHours() === 0 && new Date(atMs).getMinutes() === 0
  const format = isMidnight
    ? formatOf('axis day', { month: 'short', day: 'numeric' })
    : formatOf('axis', { hour: '2-digit', minute: '2-digit' })
  return format.format(atMs)
}
