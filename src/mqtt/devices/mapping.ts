// Mappings of a channel: what topics of its own become, as its owner wrote them.

import { fault, isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { isRecord } from '#domain/record'
import { invalid, isLonger, isSafeText } from '#src/schemas/values'
import { compilePattern } from './topic-pattern.ts'
import type { TopicPattern } from './topic-pattern.ts'

/** A mapping as its owner sends it and as it is kept. */
export interface MappingFields {
  /** A pattern with named levels: `home/+room/+device/state`; `#name` takes several levels. */
  readonly topic: string
  /** The id of the Thing, with levels in braces: `{room}-{device}`. */
  readonly thing: string
  /** Members that lead to the time in a JSON payload, parted by dots. */
  readonly time?: string
  /** Text before the name of each attr. */
  readonly prefix?: string
  /** `attrs` of the Thing, which is the default, or a `message` about it. */
  readonly kind?: MappingKind
}

const KINDS = ['attrs', 'message'] as const
export type MappingKind = (typeof KINDS)[number]

/** A mapping that was checked. */
export interface Mapping extends MappingFields {
  readonly pattern: TopicPattern
}

export const MAPPINGS_MAX = 100
const TEXT_BYTES_MAX = 512

/** Reads the list of a channel's mappings; the refusal names the member, as `mappings[1].topic`. */
export function readMappings(sent: unknown): Answer<readonly Mapping[]> {
  if (!Array.isArray(sent)) {
    return fault('invalid_json_data', { field: 'mappings', detail: 'mappings must be a list' })
  }
  if (sent.length > MAPPINGS_MAX) return invalid('mappings', `must be at most ${MAPPINGS_MAX}`)
  const mappings: Mapping[] = []
  for (const [index, item] of sent.entries()) {
    const mapping = readMapping(item, `mappings[${index}]`)
    if (isFault(mapping)) return mapping
    mappings.push(mapping)
  }
  return mappings
}

function readMapping(sent: unknown, field: string): Answer<Mapping> {
  const rule = 'must be an object'
  if (!isRecord(sent)) return fault('invalid_json_data', { field, detail: `${field} ${rule}` })
  const { topic, thing, time, prefix, kind = 'attrs' } = sent
  for (const [name, value] of Object.entries({ topic, thing, time, prefix })) {
    if (value === undefined && (name === 'time' || name === 'prefix')) continue
    if (typeof value !== 'string' || !isSafeText(value) || isLonger(value, TEXT_BYTES_MAX)) {
      return invalid(`${field}.${name}`, `must be a text of at most ${TEXT_BYTES_MAX} bytes`)
    }
  }
  const pattern = compilePattern(String(topic))
  if (pattern === undefined) {
    return invalid(`${field}.topic`, 'must be a topic with levels as +name, or one as #name')
  }
  const unknown = unknownLevelOf(String(thing), pattern)
  if (unknown !== undefined) return invalid(`${field}.thing`, unknown)
  const known = KINDS.find((one) => one === kind)
  if (known === undefined) return invalid(`${field}.kind`, `must be ${KINDS.join(' or ')}`)
  return {
    topic: String(topic),
    thing: String(thing),
    ...(typeof time === 'string' && { time }),
    ...(typeof prefix === 'string' && { prefix }),
    kind: known,
    pattern,
  }
}

/** A level in the template of an id. */
export const PLACE = /\{(\w+)\}/g

/** The rule that a template of an id breaks; undefined for a good one. */
function unknownLevelOf(template: string, { names }: TopicPattern): string | undefined {
  const unknown = [...template.matchAll(PLACE)].find(([, name = '']) => !names.has(name))
  if (unknown !== undefined) return `names ${unknown[0]}, which the topic has not`
  return /^[A-Za-z0-9_:-]+$/.test(template.replaceAll(PLACE, 'x'))
    ? undefined
    : 'must be of letters, digits, _, :, - and levels in braces'
}
