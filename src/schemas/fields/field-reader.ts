// Reads the fields of one submission, one after the other, into a record without a prototype.
//
// Invariants:
//   fields/1. The first fault stays; fields read after it change nothing.
//   fields/2. Keys that the caller chose (attrs, external_ids, metadata) go only into records
//             without a prototype, so `__proto__` and the like are plain data. (decisions.md 3)
//   fields/3. No value is kept that JSON or UTF-8 cannot carry: the log gives every value back
//             unchanged.

import { isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { bare, isSafeText, UNSAFE_RULE } from '#domain/record'
import type { Fields, Json } from '#domain/submission'

import { MESSAGE_FIELDS, fieldsOf } from './submission-fields.ts'
import type { Field, FieldKind, Fields as Declared } from './submission-fields.ts'
import { REMIND_RULE, STEPS_RULE, remindEveryMs, stepsFrom } from '#src/rules/escalation'
import { refusalOfTree } from '#src/schemas/json/tree'
import { invalid, isLonger, readText, readTime } from '#src/schemas/values'
import type { SentText, SentTime } from '#src/schemas/values'

export const LIST_ITEMS_MAX = 32
export const TAG_BYTES_MAX = MESSAGE_FIELDS.tags.bytesMax
export const IMAGE_BYTES_MAX = MESSAGE_FIELDS.images.bytesMax
export const METADATA_KEY_BYTES_MAX = 64
export const METADATA_TEXT_BYTES_MAX = 512

type SentTexts = readonly string[] | null | undefined
type SentMetadata = { readonly [key: string]: string | number | boolean } | null | undefined
type SentSteps = readonly object[] | null | undefined
type SentRecord = { readonly [key: string]: Json } | null | undefined

/** Reads one submission's fields; when `fault` is set afterwards, nothing read here may be used. */
class FieldReader {
  /** The values that were read, under their wire names. */
  readonly fields: Record<string, Json> = bare<Json>()
  /** The patches that are applied key by key, by their names. Nulls stay: they remove a key. */
  readonly patches: { [name: string]: Fields } = {}
  #fault: Fault | undefined

  /** The first fault. */
  get fault(): Fault | undefined {
    return this.#fault
  }

  note(found: Fault): void {
    this.#fault ??= found // fields/1
  }

  /** A text of a Message: a blank one is absent. */
  text(name: string, sent: SentText): void {
    const text = readText(name, sent)
    if (isFault(text)) this.note(text)
    else if (text !== undefined) this.fields[name] = text
  }

  /** A text of a patch: an empty one is a value too, which clears the field. (decisions.md 3) */
  patchText(name: string, sent: SentText): void {
    if (typeof sent === 'string' && sent.trim() === '') this.fields[name] = ''
    else this.text(name, sent)
  }

  time(name: string, sent: SentTime): void {
    const time = readTime(name, sent)
    if (isFault(time)) this.note(time)
    else if (time !== undefined) this.fields[name] = time
  }

  /** One of a few words in any case; any other text stands for the fallback. */
  word(name: string, sent: SentText, { choices = [], fallback = '' }: Field): void {
    const word = sent?.trim().toLowerCase() ?? ''
    if (word !== '') this.fields[name] = choices.includes(word) ? word : fallback
  }

  /** A list as it was sent, an empty one too: Events and Things have no further rule for lists. */
  texts(name: string, sent: SentTexts): void {
    if (sent === undefined || sent === null) return
    if (sent.every(isSafeText)) this.fields[name] = sent
    else this.note(invalid(name, UNSAFE_RULE)) // fields/3
  }

  /**
   * A list of a Message: its texts are trimmed, bounded in bytes, freed of repeats, and then
   * counted.
   */
  limitedTexts(name: string, sent: SentTexts, bytesMax: number): void {
    const items = new Set<string>()
    for (const item of sent ?? []) {
      const text = readText(name, item)
      if (text === undefined) return this.note(invalid(name, 'must not hold a blank item'))
      if (typeof text !== 'string') return this.note(text)
      if (isLonger(text, bytesMax)) {
        return this.note(invalid(name, `must hold items of at most ${bytesMax} bytes`))
      }
      items.add(text)
    }
    if (items.size > LIST_ITEMS_MAX) {
      return this.note(invalid(name, `must hold at most ${LIST_ITEMS_MAX} different items`))
    }
    if (items.size > 0) this.fields[name] = [...items]
  }

  /** Scalars under trimmed keys. An empty object is kept: it replaces the metadata of an entity. */
  scalars(name: string, sent: SentMetadata): void {
    if (sent === undefined || sent === null) return
    const kept = bare<Json>() // fields/2
    for (const sentKey of Object.keys(sent)) {
      const key = sentKey.trim()
      const value = metadataValue(sent[sentKey])
      const refusal = refusalOfKey(key, kept)
      if (refusal !== undefined) return this.note(refusal)
      if (value === undefined) return this.note(VALUE_REFUSAL)
      kept[key] = value
    }
    this.fields[name] = kept
  }

  /** The time between reminders; null and a blank text remove it. */
  pause(name: string, sent: SentText): void {
    const text = sent?.trim() ?? ''
    if (text === '') this.fields[name] = null
    else if (remindEveryMs(text) === undefined) this.note(invalid(name, REMIND_RULE))
    else this.fields[name] = text
  }

  /** Steps to escalate; null removes them. */
  steps(name: string, sent: SentSteps): void {
    const steps = sent === null ? null : stepsFrom(sent)
    if (steps === undefined) this.note(invalid(name, STEPS_RULE))
    else this.fields[name] = steps as Json
  }

  /** A patch that is applied key by key. */
  patch(name: string, sent: SentRecord): void {
    if (sent === undefined || sent === null) return
    const refusal = refusalOfTree(name, sent) // fields/3
    if (refusal === undefined) this.patches[name] = bareCopy(sent) // fields/2
    else this.note(refusal)
  }
}

interface SentBy {
  readonly 'required-text': SentText
  readonly text: SentText
  readonly 'patch-text': SentText
  readonly texts: SentTexts
  readonly 'limited-texts': SentTexts
  readonly time: SentTime
  readonly keyed: SentRecord
  readonly scalars: SentMetadata
  readonly word: SentText
  readonly pause: SentText
  readonly steps: SentSteps
}

type Reading<Kind extends FieldKind> = (
  reader: FieldReader,
  sent: SentBy[Kind],
  name: string,
  field: Field,
) => void

const READINGS: { readonly [Kind in FieldKind]: Reading<Kind> } = {
  'required-text': (reader, sent, name) => reader.text(name, sent),
  text: (reader, sent, name) => reader.text(name, sent),
  'patch-text': (reader, sent, name) => reader.patchText(name, sent),
  texts: (reader, sent, name) => reader.texts(name, sent),
  'limited-texts': (reader, sent, name, { bytesMax = 0 }) =>
    reader.limitedTexts(name, sent, bytesMax),
  time: (reader, sent, name) => reader.time(name, sent),
  keyed: (reader, sent, name) => reader.patch(name, sent),
  scalars: (reader, sent, name) => reader.scalars(name, sent),
  word: (reader, sent, name, field) => reader.word(name, sent, field),
  pause: (reader, sent, name) => reader.pause(name, sent),
  steps: (reader, sent, name) => reader.steps(name, sent),
}

const REMOVED_BY_NULL: readonly FieldKind[] = ['pause', 'steps']

/**
 * Reads the declared fields that an action takes, in their order; ids are left to the caller. Made
 * once for each action.
 */
export function fieldsReaderOf(declared: Declared, action: string) {
  const taken = fieldsOf(declared, action)
    .filter(([, { form }]) => form === undefined)
    .map(([name, field]) => ({ name, field, read: READINGS[field.kind] }))
  return (body: Readonly<Record<string, unknown>>): FieldReader => {
    const reader = new FieldReader()
    for (const { name, field, read } of taken) {
      const sent = body[name]
      if (sent === undefined) continue // Most fields of most requests.
      if (sent === null && !REMOVED_BY_NULL.includes(field.kind)) continue
      // The shape checked the JSON type: its schema is made of the same declaration.
      read(reader, sent as never, name, field)
    }
    return reader
  }
}

/** The own members of a record in a record without a prototype. */
export function bareCopy(record: { readonly [key: string]: Json }): Record<string, Json> {
  const copy = bare<Json>()
  for (const key in record) copy[key] = record[key] ?? null
  return copy
}

function refusalOfKey(key: string, kept: Fields): Fault | undefined {
  if (key === '' || isLonger(key, METADATA_KEY_BYTES_MAX)) {
    return invalid('metadata', `must have keys of 1 to ${METADATA_KEY_BYTES_MAX} bytes`)
  }
  if (!isSafeText(key)) return invalid('metadata', UNSAFE_RULE)
  return key in kept ? invalid('metadata', 'must have keys that differ after trimming') : undefined
}

const VALUE_REFUSAL = invalid(
  'metadata',
  `must hold texts of 1 to ${METADATA_TEXT_BYTES_MAX} bytes, booleans and finite numbers only, ` +
    'whole ones as a double carries them exactly',
)

/** The value to keep; undefined for one that cannot be kept. */
function metadataValue(sent: string | number | boolean | undefined): Json | undefined {
  if (typeof sent === 'boolean') return sent
  if (typeof sent === 'number') return Number.isFinite(sent) ? sent + 0 : undefined // fields/3
  const text = sent?.trim() ?? ''
  return text === '' || isLonger(text, METADATA_TEXT_BYTES_MAX) || !isSafeText(text)
    ? undefined
    : text
}
