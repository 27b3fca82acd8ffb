// Mappings of a channel: what topics of its own become, as its owner wrote them.

import type { Answer } from '#domain/ports'
import { isRecord, isSafeText } from '#domain/record'
import { parseJson } from '#src/schemas/json/json'
import { invalid, isLonger, noObject, readEach, readableIn } from '#src/schemas/values'
import { KINDS, MAPPINGS_MAX, MAPPING_BYTES_MAX, MAPPING_MEMBERS } from './mapping-schemas.ts'
import type { MappingFields } from './mapping-schemas.ts'
import { compilePattern } from './topic-pattern.ts'
import type { TopicPattern } from './topic-pattern.ts'

/** A mapping that was checked. */
export interface Mapping extends MappingFields {
  readonly pattern: TopicPattern
}

/** Reads the list of a channel's mappings; the refusal names the member, as `mappings[1].topic`. */
export function readMappings(sent: readonly unknown[]): Answer<readonly Mapping[]> {
  if (sent.length > MAPPINGS_MAX) return invalid('mappings', `must be at most ${MAPPINGS_MAX}`)
  return readEach('mappings', sent, readMapping)
}

/** The mappings in a stored text, without those that this version cannot read. */
export const mappingsIn = (text: string): readonly Mapping[] =>
  readableIn(parseJson(text), readMapping)

/** The text by which mappings are stored. */
export const textOf = (mappings: readonly Mapping[]): string => JSON.stringify(mappings.map(asSent))

/** The mapping as its owner sent it. */
export const asSent = ({ pattern: _pattern, ...fields }: Mapping): MappingFields => fields

function readMapping(sent: unknown, field: string): Answer<Mapping> {
  if (!isRecord(sent)) return noObject(field)
  const unknown = Object.keys(sent).find((name) => !MAPPING_MEMBERS.includes(name))
  if (unknown !== undefined) {
    return invalid(field, `has another member than ${MAPPING_MEMBERS.join(', ')}`)
  }
  const { topic, thing, time, prefix, kind } = sent
  for (const [name, value] of Object.entries({ topic, thing, time, prefix })) {
    const isAbsent = value === undefined || value === null
    if (isAbsent && (name === 'time' || name === 'prefix')) continue
    if (typeof value !== 'string' || !isSafeText(value) || isLonger(value, MAPPING_BYTES_MAX)) {
      return invalid(`${field}.${name}`, `must be a text of at most ${MAPPING_BYTES_MAX} bytes`)
    }
  }
  const pattern = compilePattern(String(topic))
  if (pattern === undefined) {
    return invalid(`${field}.topic`, 'must be a topic with levels as +name, or one as #name')
  }
  const wrong = wrongTemplate(String(thing), pattern)
  if (wrong !== undefined) return invalid(`${field}.thing`, wrong)
  const known = KINDS.find((one) => one === (kind ?? 'attrs'))
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
function wrongTemplate(template: string, { names }: TopicPattern): string | undefined {
  const unknown = [...template.matchAll(PLACE)].find(([, name = '']) => !names.has(name))
  if (unknown !== undefined) return `names ${unknown[0]}, which the topic has not`
  return /^[A-Za-z0-9_:-]+$/.test(template.replaceAll(PLACE, 'x'))
    ? undefined
    : 'must be of letters, digits, _, :, - and levels in braces'
}
