// How a member of a request is read, and one of an answer is written: functions that stand in its
// schema, under symbols, which JSON leaves out.
//
// A value has the name of its member inside, too, in the style of the code: `channelId` of
// `channel_id`. The schemas say where that differs.

import type { Fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Defined } from '#domain/record'

import type { JsonSchema, ObjectSchema } from './json-schema.ts'
import type { ValueOf } from './schema-types.ts'

/** Named values as they are written into an answer. */
export type Wire = { readonly [name: string]: unknown }

// The declarations of the SDK name these, so they are exported; nothing else uses them.
export const READ: unique symbol = Symbol('read')
export const WRITE: unique symbol = Symbol('write')
export const COMPUTE: unique symbol = Symbol('compute')

type Camel<Name> = Name extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<Camel<Rest>>}`
  : Name & string

const camel = (name: string): string =>
  name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

// ---- reading

export type Reading<Value, Name> = {
  readonly [READ]: {
    readonly name: Name
    readonly read: (sent: never, field: string, body: never) => Answer<Value>
  }
}

/**
 * A member with the reader of its value, which has a JSON type of the schema, or is undefined where
 * it may be left out. The reader gets the name of the member, for its refusal, and the body with
 * what stands beside it. `name` is that of the value where it has another one.
 */
export const read = <
  const Schema extends JsonSchema,
  Value,
  const Name extends string = '',
  Body = unknown,
>(
  schema: Schema,
  reader: (sent: ValueOf<Schema>, field: string, body: Body) => Answer<Value>,
  name?: Name,
): Schema & Reading<Value, Name> =>
  ({ ...schema, [READ]: { read: reader, name: name ?? '' } }) as never

type ReadMembers<Members> = {
  readonly [
    Field in keyof Members as Members[Field] extends Reading<unknown, infer Name extends string>
      ? Name extends ''
        ? Camel<Field>
        : Name
      : never
  ]: Members[Field] extends Reading<infer Value, unknown> ? Exclude<Value, Fault> : never
}

/** What the readers in a schema give together. */
export type ReadOf<Schema> =
  Schema extends ObjectSchema<infer Members> ? Defined<ReadMembers<Members>> : never

export interface MemberReader {
  readonly name: string
  /** `body` has the JSON types of the schema. */
  readonly read: (body: never) => unknown
}

/** The readers in a schema, in the order of its members. */
export const readersIn = ({ properties }: ObjectSchema): readonly MemberReader[] =>
  Object.entries(properties as Readonly<Record<string, Partial<Reading<unknown, string>>>>).flatMap(
    ([field, { [READ]: own }]) => {
      if (own === undefined) return []
      const valueIn = (body: { readonly [name: string]: never }) =>
        own.read(body[field] as never, field, body as never)
      return [{ name: own.name === '' ? camel(field) : own.name, read: valueIn }]
    },
  )

// ---- writing

export type Writing<Data> = {
  readonly [WRITE]: (data: Data) => unknown
}

export type Computing<Data> = {
  readonly [COMPUTE]: (data: Data) => unknown
}

/** A value that a function writes, as a whole. */
export const written = <const Schema extends JsonSchema, Data>(
  schema: Schema,
  write: (data: Data) => unknown,
): Schema & Writing<Data> => ({ ...schema, [WRITE]: write })

/** A member that is made of the data of the object around it; undefined leaves it out. */
export const computed = <const Schema extends JsonSchema, Data>(
  schema: Schema,
  compute: (data: Data) => DataOf<Schema> | undefined,
): Schema & Computing<Data> => ({ ...schema, [COMPUTE]: compute })

/** The data of which an answer is written. */
export type DataOf<Schema> =
  Schema extends Writing<infer Data>
    ? Data
    : Schema extends ObjectSchema<infer Members, infer Required>
      ? [keyof NamedData<Members, Required>] extends [never]
        ? ComputedData<Members>
        : NamedData<Members, Required> & ComputedData<Members>
      : Schema extends { readonly items: infer Items }
        ? readonly DataOf<Items>[]
        : ValueOf<Schema>

type NamedData<Members, Required> = {
  readonly [Field in keyof Members & Required as PlainName<Members[Field], Field>]: DataOf<
    Members[Field]
  >
} & {
  readonly [Field in Exclude<keyof Members, Required> as PlainName<Members[Field], Field>]?:
    | DataOf<Members[Field]>
    | undefined
}

type PlainName<Member, Field> = Member extends Computing<never> ? never : Camel<Field>

/** Everything that the computed members are made of. */
type ComputedData<Members> = [
  {
    [Field in keyof Members]: Members[Field] extends Computing<infer Data>
      ? (data: Data) => void
      : never
  }[keyof Members],
] extends [(data: infer All) => void]
  ? All
  : unknown

type Write = (data: never) => unknown

/** Makes the writer of an answer. It writes no member that its schema does not name. */
export const writerOf = <Schema extends ObjectSchema>(
  schema: Schema,
): ((data: DataOf<Schema>) => Wire) => valueWriter(schema) as never

function valueWriter(schema: JsonSchema & Partial<Writing<never>>): Write {
  const { [WRITE]: write, properties, items } = schema
  if (write !== undefined) return write
  if (properties !== undefined) return objectWriter(properties as ObjectSchema['properties'])
  if (items === undefined) return asIs
  const item = valueWriter(items as JsonSchema)
  return item === asIs ? asIs : (list: readonly never[]) => list.map(item)
}

const asIs: Write = (value) => value

function objectWriter(properties: ObjectSchema['properties']): Write {
  const members = Object.entries(properties).map(
    ([field, schema]: [string, JsonSchema & Partial<Computing<never>>]) => {
      const name = camel(field)
      const compute = schema[COMPUTE] ?? ((data: { readonly [name: string]: never }) => data[name])
      return { field, compute, write: valueWriter(schema) }
    },
  )
  return (data) => {
    const wire: Record<string, unknown> = {}
    for (const { field, compute, write } of members) {
      const value = compute(data)
      if (value !== undefined) wire[field] = write(value as never)
    }
    return wire
  }
}
