// Named values in a body: JSON, a form, a form of parts. A body that claims to be a form and is
// JSON is read as JSON.

import { fault, isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { isRecord } from '#domain/record'
import { readJson } from '#src/schemas/json/json'
import type { JsonSchema, ObjectSchema } from '#src/schemas/json-schema'
import { BODY_BYTES_MAX, formBody, multipartBody, withQuery } from '#src/ingress/reader'
import type { Form, Reader } from '#src/ingress/reader'
import { given, object } from '#src/schemas/json-schema'
import { storable } from './extras.ts'
import type { Scalar } from './extras.ts'

// Named values of one request, from its query, its body and its path. Blank ones are absent.

/** Reads a number as a text too: clients mix `1` and `"1"`. */
export class Given {
  readonly #values = new Map<string, unknown>()

  /** Replaces values of the same names; a blank one replaces nothing. */
  over(entries: Iterable<readonly [name: string, value: unknown]>): this {
    for (const [name, sent] of entries) {
      if (sent === undefined || sent === null) continue
      const value = typeof sent === 'string' ? storable(sent) : sent
      if (typeof value === 'string' && value.trim() === '') continue
      this.#values.set(name, value)
    }
    return this
  }

  has(name: string): boolean {
    return this.#values.has(name)
  }

  value(name: string): unknown {
    return this.#values.get(name)
  }

  /** A text, or a number or boolean as text; trimmed. */
  text(name: string): string | undefined {
    const value = this.#values.get(name)
    if (typeof value === 'string') return value.trim()
    return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
  }

  /** Everything that metadata can hold. */
  *scalars(): IterableIterator<readonly [name: string, value: Scalar]> {
    for (const [name, value] of this.#values) {
      if (typeof value === 'string') yield [name, value.trim()]
      else if (typeof value === 'number' || typeof value === 'boolean') yield [name, value]
    }
  }
}

/** The named values of a body. */
export interface Values {
  readonly isJson: boolean
  readonly entries: readonly (readonly [name: string, value: unknown])[]
}

export const NO_ENTRIES: Values = { isJson: false, entries: [] }

/** The bodies of the same values in the document: JSON, and both kinds of form. */
export const bodiesOf = (
  inForm: JsonSchema,
  inJson: JsonSchema,
): Readonly<Record<string, JsonSchema>> => ({
  'application/json': inJson,
  'application/x-www-form-urlencoded': inForm,
  'multipart/form-data': inForm,
})

const FORM_TYPE = 'application/x-www-form-urlencoded'
const form = formBody()
const multipart = multipartBody()
const OPENING_BRACE = 0x7b

/** Reads a body whatever its Content-Type says; an empty one has no values. */
export const VALUES: Reader<Values> = withQuery({
  bytesMax: BODY_BYTES_MAX,
  isQueryRead: true,
  mediaTypes: [],
  codes: ['invalid_json_syntax', 'invalid_json_data', 'malformed_body'],
  read: (bytes, contentType) => {
    if (bytes.length === 0) return NO_ENTRIES
    if (/^application\/json/i.test(contentType)) return fromJson(bytes)
    if (/^multipart\/form-data/i.test(contentType)) return fromParts(bytes, contentType)
    const json = bytes[0] === OPENING_BRACE ? fromJson(bytes) : undefined
    if (json !== undefined && !isFault(json)) return json
    const read = form.read(bytes, FORM_TYPE)
    return read instanceof Promise ? read.then(fromForm) : fromForm(read)
  },
})

function fromJson(bytes: Uint8Array): Answer<Values> {
  const value = readJson(bytes)
  if (isFault(value)) return value
  if (!isRecord(value)) return fault('invalid_json_data', { detail: 'the body must be an object' })
  return { isJson: true, entries: Object.entries(value) }
}

async function fromParts(bytes: Uint8Array, contentType: string): Promise<Answer<Values>> {
  return fromForm(await multipart.read(bytes, contentType))
}

const fromForm = (read: Answer<Form>): Answer<Values> =>
  isFault(read) ? read : { isJson: false, entries: [...read.texts] }

/** Types of values in JSON that count as text. */
export const SCALAR = ['string', 'number', 'boolean'] as const

type Descriptions = Readonly<Record<string, string>>

/** Texts in a query or a form. */
export const textsOf = (descriptions: Descriptions): ObjectSchema =>
  object(
    Object.fromEntries(
      Object.entries(descriptions).map(([name, text]) => [name, given('string', text)]),
    ),
    [],
  )

/** The same in JSON: numbers and booleans count as text, other values as absent. */
export const scalarsOf = (descriptions: Descriptions): ObjectSchema =>
  object(
    Object.fromEntries(
      Object.entries(descriptions).map(([name, description]) => [name, { description }]),
    ),
    [],
  )
