// The TypeScript types of values, computed from their schemas. They follow the keywords that
// `typesOnly` of json-schema.ts leaves to ajv, so a type says exactly what was checked.

import type { Json } from '#domain/submission'

import type { NULL_REMOVES, ObjectSchema, OfType } from './json-schema.ts'
import type { BLANK } from './patterns.ts'

/** The value that a schema describes: what a body holds once it is checked, and every answer. */
export type ValueOf<Schema> =
  Schema extends OfType<infer Type>
    ? Type
    : Schema extends { readonly enum: readonly (infer Word)[] }
      ? Word
      : Schema extends ObjectSchema<infer Members, infer Required>
        ? Flat<
            { readonly [Name in keyof Members & Required]: ValueOf<Members[Name]> } & {
              readonly [Name in Exclude<keyof Members, Required>]?: ValueOf<Members[Name]>
            }
          >
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

/**
 * Null is the same as a member that is left out, unless it removes. Of a member with a few words,
 * it is one of those.
 */
type SentValue<Schema> = Schema extends { readonly pattern: typeof BLANK }
  ? never
  : Schema extends WithWords<infer Word>
    ? Word
    : Schema extends { readonly $comment: typeof NULL_REMOVES }
      ? ValueOf<Schema>
      : Exclude<ValueOf<Schema>, null>

type WithWords<Word extends string> = { readonly words: readonly Word[] }

/** The body that a caller writes, in each of its cases. */
export type Sent<Schema> =
  Schema extends ObjectSchema<infer Members, infer Required>
    ? Schema extends { readonly anyOf: readonly (infer Case)[] }
      ? Case extends ObjectSchema<infer Own, infer OwnRequired>
        ? SentBody<Omit<Members, keyof Own> & Own, Required | OwnRequired>
        : never
      : SentBody<Members, Required>
    : never

type SentBody<Members, Required> = Flat<
  { readonly [Name in keyof Members & Required]: SentValue<Members[Name]> } & {
    readonly [Name in MayBeSent<Members, Required>]?: SentValue<Members[Name]>
  }
>

/** The members that may be left out, without those that must not be sent. */
type MayBeSent<Members, Required> = {
  [Name in keyof Members]: Name extends Required
    ? never
    : Members[Name] extends { readonly type: 'null' }
      ? never
      : Name
}[keyof Members]

/** Shows the members of a type in place of the way in which it is made. */
type Flat<Members> = { readonly [Name in keyof Members]: Members[Name] }
