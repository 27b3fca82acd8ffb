// Requests whose values have names, in a query, in a form and in JSON, in the OpenAPI document.

import { given, object } from '#src/schemas/json-schema'
import type { ObjectSchema } from '#src/schemas/json-schema'

/** Types of values in JSON that count as text. */
export const SCALAR = ['string', 'number', 'boolean'] as const

export type Descriptions = Readonly<Record<string, string>>

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
