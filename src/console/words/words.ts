// Texts in the language that the person has chosen. A browser loads those of one language.

import { batch, signal } from '@preact/signals'

import { UNIT_MS } from '#domain/runtime'
import { HeliographError } from '#src/client/error'
import type { Mistake } from '#src/client/query/mistake'
import { language } from '#console/state/saved.ts'
import type { Language } from '#console/state/saved.ts'
import type { WordName } from './en.ts'

export type { WordName } from './en.ts'

type Words = Readonly<Record<WordName, string>>

const LOADED: Readonly<Record<Language, () => Promise<Words>>> = {
  en: async () => (await import('./en.ts')).EN,
  'zh-CN': async () => (await import('./zh-cn.ts')).ZH_CN,
}

const words = signal<Partial<Words>>({})

/** Loads the texts of a language, and then speaks it. Throws where they cannot be loaded. */
export async function speak(wanted: Language): Promise<void> {
  const loaded = await LOADED[wanted]()
  batch(() => {
    words.value = loaded
    language.value = wanted
  })
}

/** The text of a name, with its places filled. */
export function t(name: WordName, values: Readonly<Record<string, string | number>> = {}): string {
  const text = words.value[name] ?? name
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

/** What is wrong with the text of a query. */
export const mistakeText = ({ code, at, end }: Mistake, text: string): string =>
  t(`mistake_${code}`, { text: text.slice(at, end) })

/** A span of time in its largest unit. */
export function span(ms: number): string {
  const size = Math.max(0, ms)
  if (size < UNIT_MS.m) return t('seconds', { n: Math.floor(size / UNIT_MS.s) })
  if (size < UNIT_MS.h) return t('minutes', { n: Math.floor(size / UNIT_MS.m) })
  if (size < 2 * UNIT_MS.d) return t('hours', { n: Math.floor(size / UNIT_MS.h) })
  return t('days', { n: Math.floor(size / UNIT_MS.d) })
}

/** How long ago something was; `now` for the last seconds. */
export function age(ms: number): string {
  return ms < 2 * UNIT_MS.s ? t('now') : t('ago', { age: span(ms) })
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

const INSTANT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z/g

/** A text whose times of the world's clock are those of the person's. */
export const localTimes = (text: string, presentMs: number): string =>
  text.replace(INSTANT, (instant) => {
    const atMs = Date.parse(instant)
    return Number.isNaN(atMs) ? instant : moment(atMs, presentMs)
  })

/** The day of a time, by name where it is today or yesterday. */
export function dayName(atMs: number, presentMs: number): string {
  const day = (ms: number): string => new Date(ms).toDateString()
  if (day(atMs) === day(presentMs)) return t('today')
  if (day(atMs) === day(presentMs - UNIT_MS.d)) return t('yesterday')
  return formatOf('day name', { dateStyle: 'full' }).format(atMs)
}

/** 1 January 2024 was a Monday. */
const MONDAY_MS = 1_704_067_200_000

/** The short name of a day of the week; 0 is Monday. */
export const weekday = (number: number): string =>
  formatOf('weekday', { weekday: 'short', timeZone: 'UTC' }).format(MONDAY_MS + number * UNIT_MS.d)

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
