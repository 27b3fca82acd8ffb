// The TypeScript types of values, computed from their schemas. They follow the keywords that
// `typesOnly` of json-schema.ts leaves to ajv, so a type says exactly what was checked.

import type { Json } from '#domain/submission'

import type { ObjectSchema } from './json-schema.ts'

/** The value that a schema describes. */
export type ValueOf<Schema> = Schema extends { readonly enum: readonly (infer Word)[] }
  ? Word
  : Schema extends ObjectSchema<infer Members, infer Required>
    ? Body<Members, Required>
    : Schema extends { readonly type: infer Type }
      ? Typed<Type extends readonly (infer Name)[] ? Name : Type, Schema>
      : Schema extends { readonly $ref: string }
        ? Json
        : unknown

interface Scalars {
  readonly string: string
  readonly number: number
  readonly integer: number
  readonly boolean: boolean
  readonly null: null
}

type Typed<Name, Schema> = Name extends keyof Scalars
  ? Scalars[Name]
  : Name extends 'array'
    ? readonly (Schema extends { readonly items: infer Items } ? ValueOf<Items> : unknown)[]
    : {
        readonly [key: string]: Schema extends { readonly additionalProperties: infer Values }
          ? ValueOf<Values>
          : Json
      }

type Body<Members, Required extends string> = {
  readonly [Name in keyof Members & Required]: ValueOf<Members[Name]>
} & { readonly [Name in Exclude<keyof Members, Required>]?: ValueOf<Members[Name]> }

/** The body that a caller writes: null is the same as a member that is left out. */
export type Sent<Schema> =
  Schema extends ObjectSchema<infer Members, infer Required>
    ? SentMembers<Members, Required>
    : never

type SentMembers<Members, Required extends string> = Flat<
  { readonly [Name in keyof Members & Required]: SentValue<Members[Name]> } & {
    readonly [Name in Taken<Members, Required>]?: SentValue<Members[Name]>
  }
>

/** The members that may be left out, without those that must not be sent. */
type Taken<Members, Required> = {
  [Name in keyof Members]: Name extends Required
    ? never
    : [SentValue<Members[Name]>] extends [never]
      ? never
      : Name
}[keyof Members]

/** Where the examples are of a few words, those words: readers take them in any case. */
type SentValue<Schema> = Schema extends {
  readonly examples: readonly (infer Word extends string)[]
}
  ? Word
  : Exclude<ValueOf<Schema>, null>

/** Shows the members of a type instead of the way in which it was made. */
type Flat<Members> = { readonly [Name in keyof Members]: Members[Name] }
