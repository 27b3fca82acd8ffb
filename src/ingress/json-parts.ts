// Writes JSON with long columns part by part: a series may have a million numbers, which would hold
// the thread for half a second.
//
// Invariants:
//   json-parts/1. Behind each PART_CHARACTERS the thread gets its messages, and no part is much
//     longer. (W7)
//   json-parts/2. A column that stands in several places is written once. (series/4)

import { isRecord } from '#domain/record'

/** Some two milliseconds of work. */
const PART_CHARACTERS = 65_536
/** Items of a column that are written at once. */
const PART_ITEMS = 2_048

/** The text that JSON.stringify gives for data; `pause` lets the thread receive its messages. */
export async function jsonInParts(data: object, pause: () => Promise<void>): Promise<string> {
  let text = ''
  let pausedAt = 0
  for (const part of partsOf(data, new Map())) {
    text += part
    if (text.length - pausedAt < PART_CHARACTERS) continue
    pausedAt = text.length
    await pause() // json-parts/1
  }
  return text
}

function* partsOf(value: unknown, written: Map<unknown, string>): Generator<string> {
  if (Array.isArray(value) && value.length <= PART_ITEMS) {
    const text = written.get(value) ?? JSON.stringify(value)
    written.set(value, text) // json-parts/2
    yield text
  } else if (Array.isArray(value)) {
    for (let start = 0; start < value.length; start += PART_ITEMS) {
      const items = JSON.stringify(value.slice(start, start + PART_ITEMS))
      yield (start === 0 ? '[' : ',') + items.slice(1, -1)
    }
    yield ']'
  } else if (isRecord(value)) {
    let begun = '{'
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue
      yield `${begun}${JSON.stringify(name)}:`
      yield* partsOf(member, written)
      begun = ','
    }
    yield begun === '{' ? '{}' : '}'
  } else yield JSON.stringify(value)
}
