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

import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { isRecord } from '#domain/record'

import { object, typesOnly } from './json-schema.ts'
import type { ObjectSchema } from './json-schema.ts'
import { readersIn } from './members.ts'
import type { Defined } from '#domain/record'
import type { MemberReader, ReadOf } from './members.ts'
import { forbiddenIn, missingCodeOf } from './route.ts'
import type { Declaration } from './route.ts'
import type { ValueOf } from './schema-types.ts'
import { isSent } from './values.ts'

// Infinity (JSON text 1e999) passes as a number here, so that each field refuses it with its own
// code.
const ajv = new Ajv({ strict: true, allowUnionTypes: true, strictNumbers: false })

/**
 * The check of one kind of body, compiled for its first one: all of them take a third of a second,
 * and most processes meet few. The type of the body is that of its schema. A forbidden or required
 * member that is null counts as absent.
 */
export function shape<Schema extends ObjectSchema>(
  schema: Schema,
): (body: unknown) => Answer<ValueOf<Schema>> {
  let compiled: ValidateFunction<ValueOf<Schema>> | undefined
  const forbidden = forbiddenIn(schema)
  return (body) => {
    const fits = (compiled ??= ajv.compile<ValueOf<Schema>>(typesOnly(schema))) // shape/2
    if (fits(body)) return body // A forbidden member has the type null, so none was sent.
    if (!isRecord(body)) {
      return fault('invalid_json_data', { detail: 'the body must be a JSON object' })
    }
    for (const [field, code] of forbidden) {
      if (isSent(body[field])) return fault(code, { field }) // shape/1
    }
    return missingMember(body, schema) ?? wrongType(fits)
  }
}

function missingMember(
  body: Readonly<Record<string, unknown>>,
  { required }: ObjectSchema,
): Fault | undefined {
  const field = required.find((name) => !isSent(body[name]))
  return field === undefined
    ? undefined
    : fault(missingCodeOf(field), { field, detail: `${field} is required` })
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

/** The request that a reader returns. */
export type RequestOf<Reader extends (sent: unknown) => unknown> = Exclude<
  ReturnType<Reader>,
  Fault
>

/** Readers of values that are no single member's, by the names that the values get. */
type More<Body> = Readonly<Record<string, (body: Body) => unknown>>

type ReadByMore<Readers> = Defined<{
  readonly [Name in keyof Readers]: Readers[Name] extends (body: never) => infer Value
    ? Exclude<Value, Fault>
    : never
}>

/**
 * Makes the reader of a request by the schema of its body and the readers in it, and by `more`
 * behind these. The first refusal is the answer.
 */
export function request<Schema extends ObjectSchema>(
  schema: Schema,
): (sent: unknown) => Answer<ReadOf<Schema>>
export function request<Schema extends ObjectSchema, Readers extends More<ValueOf<Schema>>>(
  schema: Schema,
  more: Readers,
): (sent: unknown) => Answer<ReadOf<Schema> & ReadByMore<Readers>>
export function request(schema: ObjectSchema, more: More<never> = {}): (sent: unknown) => unknown {
  const check = shape(schema)
  const others = Object.entries(more).map(([name, read]) => ({ name, read }))
  const readers: readonly MemberReader[] = [...readersIn(schema), ...others]
  return (sent) => {
    const body = check(sent)
    if (isFault(body)) return body
    const values: Record<string, unknown> = {}
    for (const { name, read } of readers) {
      const value = read(body as never)
      if (isFault(value)) return value
      if (value !== undefined) values[name] = value
    }
    return values
  }
}

/** Makes the readers of routes, by their verbs. */
export const readersOf = <Routes extends Readonly<Record<string, Readable>>>(routes: Routes) =>
  Object.fromEntries(
    Object.entries(routes).map(([verb, { request: body, query }]) => [
      verb,
      request(body ?? query ?? NOTHING),
    ]),
  ) as {
    readonly [Verb in keyof Routes]: (sent: unknown) => Answer<ReadOf<Sendable<Routes[Verb]>>>
  }

type Readable = Pick<Declaration, 'request' | 'query'>
type Sendable<Route> = Route extends { readonly request: infer Schema }
  ? Schema
  : Route extends { readonly query: infer Schema }
    ? Schema
    : never

const NOTHING = object({}, [])
