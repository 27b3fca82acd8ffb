// The first check of a body: its forbidden members, its missing members, and the JSON type of each.
// ajv is here and nowhere else. The readers of each field check values (length, form) next.
//
// Invariants:
//   shape/1. The order of refusals is fixed: not an object; forbidden members; missing members;
//            wrong JSON types. So one request always gets one and the same code.
//   shape/2. Only JSON types are checked here, although the schemas say more: the field's reader
//            gives a value of a wrong form its own code.

import { Ajv } from 'ajv'
import type { ErrorObject, ValidateFunction } from 'ajv'

import { fault } from '#domain/fault'
import type { Fault, FaultCode } from '#domain/fault'
import type { Answer } from '#domain/ports'

import { typesOnly } from './json-schema.ts'
import type { ObjectSchema } from './json-schema.ts'

// Infinity (JSON text 1e999) passes as a number here, so that each field refuses it with its own
// code.
const ajv = new Ajv({ strict: true, allowUnionTypes: true, strictNumbers: false })

export interface ShapeRules {
  readonly schema: ObjectSchema
  /** The code for each member of `schema.required` that is missing or null. */
  readonly missing: Readonly<Record<string, FaultCode>>
  /** Forbidden members, in the order in which they are reported. Null counts as absent. */
  readonly forbidden?: Readonly<Record<string, FaultCode>>
}

/** Compiles the check of one kind of body; done once, when its file is imported. */
export function shape<Body>(rules: ShapeRules): (body: unknown) => Answer<Body> {
  const fits = ajv.compile<Body>(typesOnly(rules.schema)) // shape/2
  const forbidden = Object.entries(rules.forbidden ?? {})
  return (body) => {
    if (!isRecord(body)) {
      return fault('invalid_json_data', { detail: 'the body must be a JSON object' })
    }
    for (const [field, code] of forbidden) {
      if (isSent(body[field])) return fault(code, { field }) // shape/1
    }
    if (fits(body)) return body
    return missingMember(body, rules) ?? wrongType(fits)
  }
}

/** True for a JSON object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const isSent = (value: unknown): boolean => value !== undefined && value !== null

function missingMember(
  body: Readonly<Record<string, unknown>>,
  rules: ShapeRules,
): Fault | undefined {
  const field = rules.schema.required.find((name) => !isSent(body[name]))
  if (field === undefined) return undefined
  const code = rules.missing[field] ?? 'validation_failed'
  return fault(code, { field, detail: `${field} is required` })
}

function wrongType<Body>(fits: ValidateFunction<Body>): Fault {
  const error = fits.errors?.[0]
  if (error === undefined) return fault('invalid_json_data')
  const [, field = '', ...inside] = error.instancePath.split('/')
  // Deeper parts of the path are keys that the caller chose, so the answer leaves them out.
  const place = inside.length === 0 ? field : `each value in ${field}`
  return fault('invalid_json_data', { field, detail: `${place} must be ${typesOf(error)}` })
}

function typesOf({ params }: ErrorObject): string {
  const types: unknown = params['type']
  return `of JSON type ${Array.isArray(types) ? types.join(' or ') : String(types)}`
}
