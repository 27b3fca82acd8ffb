// Writes JSON with long columns part by part: a series may have a million numbers, which would hold
// the thread for half a second.
//
// Invariants:
//   json-parts/1. Behind each PART_CHARACTERS the thread gets its messages, and no part is much
//     longer. (W7)

import { isRecord } from '#domain/record'

/** Some two milliseconds of work. */
const PART_CHARACTERS = 65_536
/** Items of a column that are written at once. */
const PART_ITEMS = 2_048

/** The text that JSON.stringify gives for data; `pause` lets the thread receive its messages. */
export async function jsonInParts(data: object, pause: () => Promise<void>): Promise<string> {
  let text = ''
  let pausedAt = 0
  for (const part of partsOf(data)) {
    text += part
    if (text.length - pausedAt < PART_CHARACTERS) continue
    pausedAt = text.length
    await pause() // json-parts/1
  }
  return text
}

function* partsOf(value: unknown): Generator<string> {
  if (Array.isArray(value) && value.length > PART_ITEMS) {
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
      yield* partsOf(member)
      begun = ','
    }
    yield begun === '{' ? '{}' : '}'
  } else yield JSON.stringify(value)
}
