// Reads a payload by a table of the places in it: as a Message, or as a step of an alarm.

import type { Answer } from '#domain/ports'
import { isRecord } from '#domain/record'
import type { Severity } from '#domain/submission'
import type { Told } from '#src/acceptance/channels/hooks'
import { Extras, fittingImages, fittingTags, isWebUrl, trimmed } from '#src/compat/extras'
import { entityIdOf } from '#src/mqtt/devices/entity-name'
import { timeOf, valueAt } from '#src/mqtt/devices/payload'
import type { JsonObject } from '#src/mqtt/devices/payload'
import type { HookMapping } from '#src/schemas/mappings/hook-schemas'
import { invalid } from '#src/schemas/values'

/** The places in the payloads of one kind: as in mappings of a channel, and more. */
export interface Places extends HookMapping {
  /** A place and the texts there of the payloads that the table is for; any text without texts. */
  readonly when?: readonly [place: string, ...texts: readonly string[]]
  /** When the alarm ended, if not at `time`. */
  readonly ended?: string
  readonly image?: string
  /** Members that are kept as metadata: objects with names of their own, or single values. */
  readonly metadata?: readonly string[]
  /** Set when a payload whose state is in neither list tells nothing. */
  readonly isSilent?: true
}

const TITLE_BYTES_MAX = 256
const TEXT_BYTES_MAX = 4_096
const URL_CHARACTERS_MAX = 2_048
/** Members of an object, such as labels, that are looked at for tags and for metadata. */
const MEMBERS_MAX = 256

const FIRING = ['firing', 'alerting', 'alarm', 'problem', 'down', 'critical', 'failed', '1', 'true']
const RESOLVED = ['resolved', 'ok', 'up', 'clear', 'success', '0', 'false']

/** Severities by the words of other tools. */
const WORDS: Readonly<Record<Severity, readonly string[]>> = {
  critical: ['critical', 'crit', 'fatal', 'emergency', 'disaster', 'page', 'alert'],
  high: ['high', 'error', 'err', 'major', 'severe'],
  normal: ['normal', 'warning', 'warn', 'medium', 'average', 'moderate'],
  low: ['low', 'info', 'information', 'notice', 'debug', 'minor', 'none'],
}
const SEVERITIES: ReadonlyMap<string, string> = new Map(
  Object.entries(WORDS).flatMap(([severity, words]) => words.map((word) => [word, severity])),
)

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : ''

const memberAt = (payload: JsonObject, path: string): unknown => valueAt(payload, path.split('.'))

/** The text of the first of the members, which have bars between them. */
const firstOf = (payload: JsonObject, paths: string): string =>
  paths
    .split('|')
    .map((path) => textOf(memberAt(payload, path)).trim())
    .find((text) => text !== '') ?? ''

const PLACE = /\{([^{}]+)\}/g

/** The template with what its places lead to; '' when one of them leads nowhere. */
function filled(template: string, payload: JsonObject): string {
  let isWhole = true
  const text = template.replace(PLACE, (_place, paths: string) => {
    const found = firstOf(payload, paths)
    isWhole &&= found !== ''
    return found
  })
  return isWhole ? text : ''
}

/** The members of a payload that a table may read: the first names of its places. */
export function membersOf(table: Places): ReadonlySet<string> {
  const templates = Object.values(table).flat().map(String)
  const paths = templates.flatMap((template) => {
    const within = [...template.matchAll(PLACE)].flatMap(([, some = '']) => some.split('|'))
    return within.length === 0 ? [template] : within
  })
  return new Set(paths.map((path) => path.split('.', 1)[0] ?? ''))
}

/** True when the table is for such a payload; without `when`, when it has the title. */
export function isFor({ when, title }: Places, payload: JsonObject): boolean {
  if (when === undefined) return filled(title, payload) !== ''
  const [place, ...texts] = when
  const text = filled(place, payload)
  return texts.length === 0 ? text !== '' : texts.includes(text)
}

/** What a payload tells; undefined for nothing. The refusal names the place that leads nowhere. */
export function readTold(
  places: Places,
  payload: JsonObject,
  receivedAtMs: number,
): Answer<Told | undefined> {
  const read = (template = '', bytesMax = TEXT_BYTES_MAX): string =>
    trimmed(filled(template, payload), bytesMax)
  const kind = kindOf(places, read(places.state).toLowerCase())
  if (kind === 'message' && places.isSilent === true) return undefined
  const [line = ''] = read(places.title).split('\n', 1)
  const title = trimmed(line, TITLE_BYTES_MAX)
  if (title === '') return invalid('title', `is empty: nothing is at ${places.title}`)
  const timeAt = (place: string): number => timeOf(timeIn(read(place)), receivedAtMs)
  const time = timeAt(places.time ?? '')
  const url = urlOf(places, payload)
  const common = { title, ...commonOf(places, payload, kind === 'message' ? undefined : url) }
  const message = read(places.message)
  const severity = SEVERITIES.get(read(places.severity).toLowerCase())
  if (kind === 'message') {
    const fields = {
      ...common,
      ...(message && { body: message }),
      ...(severity && { severity }),
      ...(url && { url }),
      ...('thing_id' in common && { occurred_at: time }),
    }
    return { kind, fields }
  }
  const source = filled(places.source ?? places.title, payload)
  if (source === '') return invalid('source', `is empty: nothing is at ${places.source ?? ''}`)
  const isFiring = kind === 'firing'
  const at = isFiring || places.ended === undefined ? time : timeAt(places.ended)
  const fields = {
    ...common,
    ...(message && { message }),
    severity: severity ?? 'high',
    status: kind,
    ...(isFiring && { started_at: at }),
  }
  const start = read(places.start)
  return { kind, fields, source, at, ...(start && { start }) }
}

function kindOf(
  { state, firing = FIRING, resolved = RESOLVED }: Places,
  text: string,
): Told['kind'] {
  if (state === undefined || text === '') return 'message'
  const has = (words: readonly string[]): boolean =>
    words.some((word) => word.toLowerCase() === text)
  return has(firing) ? 'firing' : has(resolved) ? 'resolved' : 'message'
}

function urlOf({ url = '' }: Places, payload: JsonObject): string | undefined {
  const text = filled(url, payload)
  return isWebUrl(text) && text.length <= URL_CHARACTERS_MAX ? text : undefined
}

/** The fields that Messages and Events have alike; an Event has its URL in the metadata. */
function commonOf(places: Places, payload: JsonObject, url: string | undefined): JsonObject {
  const thing = filled(places.thing ?? '', payload)
  const tags = fittingTags(tagsIn(memberAt(payload, nameOf(places.tags))))
  const images = fittingImages([filled(places.image ?? '', payload)])
  const metadata = metadataOf(places, payload, url)
  return {
    ...(thing !== '' && { thing_id: entityIdOf(thing) }),
    ...(tags && { tags }),
    ...(images && { images }),
    ...(metadata && { metadata }),
  }
}

/** A place of one member, with or without braces. */
const nameOf = (place = ''): string => place.replace(/^\{|\}$/g, '')

/** The first members of an object: more than an alarm keeps, in case that some do not fit. */
const membersIn = (value: Readonly<Record<string, unknown>>) =>
  Object.keys(value)
    .slice(0, MEMBERS_MAX)
    .map((name) => [name, value[name]] as const)

/** Tags of an object or a list of names with values, of a list of texts, or of a text. */
function tagsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.split(/[\s,]+/)
  if (isRecord(value)) {
    return membersIn(value).map(([name, one]) => `${name}=${textOf(one)}`)
  }
  if (!Array.isArray(value)) return []
  return value.map((one: unknown) => {
    if (!isRecord(one)) return textOf(one)
    const text = textOf(one['value'])
    return text === '' ? textOf(one['name']) : `${textOf(one['name'])}=${text}`
  })
}

function metadataOf(
  { metadata = [] }: Places,
  payload: JsonObject,
  url: string | undefined,
): ReturnType<Extras['metadata']> {
  const extras = new Extras('')
  extras.addWhole('url', url)
  for (const path of metadata) {
    const value = memberAt(payload, path)
    const name = path.slice(path.lastIndexOf('.') + 1)
    const named = isRecord(value) ? membersIn(value) : [[name, value] as const]
    for (const [own, one] of named) extras.add(own, textOf(one))
  }
  return extras.metadata()
}

/** A number, or a date in the way of tools that mean UTC and do not say so in ISO's way. */
const timeIn = (text: string): string | number =>
  /^\d+(\.\d+)?$/.test(text)
    ? Number(text)
    : text.replace(/^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d+)?)(?: ?UTC)?$/, '$1T$2Z')
