// Makes JSON schemas of the declared fields of submissions.

import { LIST_ITEMS_MAX, METADATA_KEY_BYTES_MAX, METADATA_TEXT_BYTES_MAX } from './field-reader.ts'
import { SEVERITIES } from '#domain/submission'
import { LEVEL_MAX, STEPS_MAX } from '#src/rules/escalation'
import * as schemas from '#src/schemas/json-schema'
import type { JsonSchema, ObjectSchema } from '#src/schemas/json-schema'
import {
  ANY_TEXT,
  DELAY_FORM,
  DURATION_FORM,
  ENTITY_ID_FORM,
  OPERATION_ID_FORM,
  REMINDER_FORM,
  exactly,
  trimmedOrBlank,
} from '#src/schemas/patterns'
import type { Sent } from '#src/schemas/schema-types'
import { fieldsOf } from './submission-fields.ts'
import type { Field, FieldKind, Fields } from './submission-fields.ts'

const SCALARS = { keyBytesMax: METADATA_KEY_BYTES_MAX, textBytesMax: METADATA_TEXT_BYTES_MAX }

const PATTERNS = {
  entity: trimmedOrBlank(ENTITY_ID_FORM),
  operation: trimmedOrBlank(OPERATION_ID_FORM),
  duration: trimmedOrBlank(DELAY_FORM),
} as const

const patternOf = ({ form }: Field) => (form === undefined ? ANY_TEXT : PATTERNS[form])

/** One step of an escalation. */
export const STEP = schemas.named(
  'EscalationStep',
  schemas.object(
    {
      after: {
        type: 'string',
        pattern: exactly(DURATION_FORM),
        description: 'From the first entry.',
      },
      level: { type: 'integer', minimum: 1, maximum: LEVEL_MAX },
      severity: schemas.oneOf(SEVERITIES, 'The severity then, unless it is higher.'),
    },
    ['after', 'level'],
  ),
)

/** The member of a request by the kind of its field. */
const REQUESTS = {
  'required-text': ({ description }: Field) => schemas.requiredText(description),
  text: (field: Field) => schemas.text(field.description, patternOf(field)),
  'patch-text': (field: Field) => schemas.patchText(field.description, patternOf(field)),
  texts: ({ description }: Field) => schemas.texts(description),
  'limited-texts': ({ description, bytesMax = 0 }: Field) =>
    schemas.limitedTexts(description, { itemsMax: LIST_ITEMS_MAX, bytesMax }),
  time: ({ description }: Field) => schemas.time(description),
  keyed: ({ description }: Field) => schemas.keyed(description),
  scalars: ({ description }: Field) => schemas.scalars(description, SCALARS),
  word: ({ description }: Field) => ({ type: ['string', 'null'], description }) as const,
  pause: ({ description }: Field) =>
    schemas.removable(schemas.text(description, trimmedOrBlank(REMINDER_FORM))),
  steps: ({ description }: Field) =>
    schemas.removable({ type: ['array', 'null'], maxItems: STEPS_MAX, items: STEP, description }),
} satisfies Record<FieldKind, (field: Field) => JsonSchema>

const STRING = (description: string) => schemas.given('string', description)
const OBJECT = (description: string) => schemas.given('object', description)
const STRINGS = (description: string) => schemas.list({ type: 'string' }, description)

/** The member of an answer by the kind of its field. */
const ANSWERS = {
  'required-text': STRING,
  text: STRING,
  'patch-text': STRING,
  texts: STRINGS,
  'limited-texts': STRINGS,
  time: (description: string) => schemas.given('integer', description),
  keyed: OBJECT,
  scalars: OBJECT,
  word: STRING,
  pause: STRING,
  steps: (description: string) => schemas.list(STEP, description),
} satisfies Record<FieldKind, (description: string) => JsonSchema>

/** True when the action takes the field. */
type IsTaken<One, Action> = One extends { readonly on: infer Own }
  ? Action extends Own
    ? true
    : false
  : true

type KindOf<One> = One extends Field ? One['kind'] : never

type Taken<Named, Action> = {
  readonly [
    Name in keyof Named as IsTaken<Named[Name], Action> extends true ? Name : never
  ]: ReturnType<(typeof REQUESTS)[KindOf<Named[Name]>]>
}

type NeededOf<Named> = {
  [Name in keyof Named]: KindOf<Named[Name]> extends 'required-text' ? Name : never
}[keyof Named]

/** The fields that a caller writes for an action. */
export type SentFields<Named, Action> = Sent<
  ObjectSchema<Taken<Named, Action>, NeededOf<Named> & string>
>

/** The members of the request of an action. */
export const takenBy = <Named extends Fields, Action extends string>(
  fields: Named,
  action: Action,
) =>
  Object.fromEntries(
    fieldsOf(fields, action)
      .toSorted(([, one], [, other]) => Number('on' in one) - Number('on' in other))
      .map(([name, field]) => [name, REQUESTS[field.kind](field)]),
  ) as Taken<Named, Action>

/** The members that the action refuses because another action takes them. */
export const refusedBy = <Named extends Fields, Action extends string>(
  fields: Named,
  action: Action,
) =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, { on, isRefusedElsewhere }]) => isRefusedElsewhere === true && on !== action)
      .map(([name, { on }]) => [name, schemas.forbidden(`Only ${on} takes it.`)]),
  ) as {
    readonly [
      Name in keyof Named as Named[Name] extends { readonly isRefusedElsewhere: true }
        ? IsTaken<Named[Name], Action> extends true
          ? never
          : Name
        : never
    ]: ReturnType<typeof schemas.forbidden>
  }

/** The members of an entity's answer. */
export const answersOf = <Named extends Fields>(fields: Named) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { kind, answer }]) => [
      name,
      ANSWERS[kind](answer ?? (kind === 'time' ? SUBMITTED_TIME : SUBMITTED)),
    ]),
  ) as {
    readonly [Name in keyof Named]: ReturnType<(typeof ANSWERS)[KindOf<Named[Name]>]>
  }

const SUBMITTED = 'As submitted.'
const SUBMITTED_TIME = 'As submitted, in Unix milliseconds.'
