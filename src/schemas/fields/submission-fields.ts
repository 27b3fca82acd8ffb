// The fields of Messages, Events and Things, each named once. The JSON schemas, the types of bodies
// and of the SDK, the readers, the answers, the examples of the document and the options of the
// command line are made of these lines. (Specification: Resources and their fields)
//
// The command line loads this file before each request, so it imports next to nothing.

import { DEFAULT_SEVERITY, SEVERITIES } from '#domain/submission'
import type { EventAction, ThingAction } from '#domain/submission'

/**
 * How a field is checked and kept. `text`: a blank one is absent; `patch-text`: an empty one clears
 * the field; `texts`: a list that replaces; `limited-texts`: a list with bounds; `keyed`: JSON by
 * key, null removes; `scalars`: texts, numbers and booleans by key; `word`: one of a few words, of
 * which any other one stands for the fallback; `pause`: the duration between reminders, and
 * `steps`: those to escalate; null or a blank text removes.
 */
export type FieldKind =
  | 'required-text'
  | 'text'
  | 'patch-text'
  | 'texts'
  | 'limited-texts'
  | 'time'
  | 'keyed'
  | 'scalars'
  | 'word'
  | 'pause'
  | 'steps'

export interface Field {
  readonly kind: FieldKind
  readonly description: string
  /** The example of the document; a field of the same name gives it to one without. */
  readonly example?: unknown
  /** The name of the value in the help of the command line; without one there is no option. */
  readonly option?: string
  /** The name of the option where the wire has another. */
  readonly optionName?: string
  /** The help of the option where the description would mislead. */
  readonly help?: string
  /** The description in answers: 'As submitted.' without this. */
  readonly answer?: string
  /** The one action that takes the field. */
  readonly on?: EventAction | ThingAction
  /** Set when other actions refuse the field with `<name>_forbidden`; otherwise they ignore it. */
  readonly isRefusedElsewhere?: true
  /** A text with a form is checked by the model's own reader. */
  readonly form?: 'entity' | 'operation' | 'duration'
  /** For `word`. */
  readonly choices?: readonly string[]
  readonly fallback?: string
  /** For `limited-texts`. */
  readonly bytesMax?: number
}

export type Fields = Readonly<Record<string, Field>>
type More = Omit<Field, 'kind' | 'description'>

const field =
  <const Kind extends FieldKind>(kind: Kind) =>
  <const Facts extends More>(description: string, facts: Facts) => ({ kind, description, ...facts })

const requiredText = field('required-text')
const text = field('text')
const patchText = field('patch-text')
const texts = field('texts')
const limitedTexts = field('limited-texts')
const time = field('time')
const keyed = field('keyed')
const scalars = field('scalars')
const word = field('word')
const pause = field('pause')
const steps = field('steps')

const METADATA = scalars('Scalars by key: keys up to 64 bytes, texts 1 to 512 bytes.', {
  example: { site: 'vienna', floor: -1, leased: false },
  option: '<key=value>',
  help: 'a value for machines',
})
const ATTRS = keyed('Values to set by key; null removes a key. At most 32 levels.', {
  example: { pressure: 2.9, burner: { on: true }, alarm: null },
  answer: 'The present values by key.',
})
const TAGS = texts('Replaces the tags.', {
  option: '<tag>',
  optionName: 'tag',
  help: 'a tag; all together replace the tags',
})
const IMAGES = texts('Replaces the image URLs.', {
  option: '<url>',
  optionName: 'image',
  help: 'an image; all together replace the images',
})
const TITLE = { example: 'Boiler 1', option: '<title>', help: 'its title' } as const
const DESCRIPTION = {
  example: 'Gas boiler in the cellar',
  option: '<text>',
  help: 'its description',
} as const
const PICTURE = 'https://example.com/boilers/1.jpg'
/** The command line makes it of a plaintext, too. (src/cli/plaintext.ts) */
const CIPHERTEXT = 'An end-to-end-encrypted payload, carried as it is.'
const ENCRYPTED = { example: 'bm90IHJlYWxseSBlbmNyeXB0ZWQ=' } as const
export const ENTITY_ID = '1 to 64 letters, digits, _, : or -.'
const THING_SCOPE = `The Thing that this belongs to: ${ENTITY_ID} It need not exist.`
const THING = { form: 'entity', option: '<thing_id>', optionName: 'thing' } as const

export const MESSAGE_FIELDS = {
  title: requiredText('Must not be blank.', { ...TITLE, help: 'the title' }),
  op_id: text('Idempotency key: 1 to 128 letters, digits, _, : or -.', {
    form: 'operation',
    example: 'order-4711:created',
    option: '<op_id>',
    help: 'idempotency key; a new one by default',
  }),
  body: text('Markdown is allowed.', {
    example: 'The pressure is **2.9 bar**.',
    option: '<text>',
    help: 'the text; Markdown is allowed',
  }),
  severity: word('critical, high, normal or low in any case; anything else is normal.', {
    example: 'high',
    choices: SEVERITIES,
    fallback: DEFAULT_SEVERITY,
    option: '<severity>',
    help: 'the urgency',
  }),
  occurred_at: time('When it happened; required together with thing_id.', {
    example: 1_767_225_600_000,
    option: '<time>',
    help: 'when it happened; with --thing now by default',
  }),
  ttl: time('When delivery to providers ends; up to 2592000 counts as seconds from now.', {
    example: 1_767_229_200_000,
    option: '<time>',
    help: 'when it is no longer worth delivering',
  }),
  deliver_at: time('When it enters the feed: 10 s to 30 days from now; at once when absent.', {
    option: '<time>',
    help: 'when it is sent, from 10 s to 30 days from now',
  }),
  delay: text('The same as a duration of whole s, m, h or d; not beside deliver_at.', {
    form: 'duration',
    example: '8h',
    option: '<duration>',
    help: 'how long it waits: 10s to 30d',
  }),
  url: text('The page that a click opens.', {
    example: 'https://example.com/boilers/1',
    option: '<url>',
    optionName: 'link',
  }),
  images: limitedTexts('Up to 32 URLs of at most 2048 bytes.', {
    bytesMax: 2_048,
    example: [PICTURE],
    option: '<url>',
    optionName: 'image',
    help: 'an image',
  }),
  tags: limitedTexts('Up to 32 of at most 64 bytes, trimmed and without repeats.', {
    bytesMax: 64,
    example: ['heating', 'cellar'],
    option: '<tag>',
    optionName: 'tag',
    help: 'a tag',
  }),
  metadata: METADATA,
  ciphertext: text(CIPHERTEXT, ENCRYPTED),
  thing_id: text(THING_SCOPE, {
    ...THING,
    example: 'boiler-1',
    help: 'the Thing that it is about',
  }),
}

export const EVENT_FIELDS = {
  title: patchText('The name of the process.', TITLE),
  description: patchText('A description of the process.', DESCRIPTION),
  status: patchText('Free text.', { example: 'acknowledged', option: '<status>' }),
  message: patchText('The latest news of the process.', {
    example: 'Waiting for the technician',
    option: '<text>',
    help: 'the present situation',
  }),
  severity: patchText('Free text; critical, high, normal and low decide how a push interrupts.', {
    option: '<severity>',
    help: 'free text; critical, high, normal and low decide the push',
  }),
  started_at: time('When it began.', { on: 'create', example: 1_767_225_000, option: '<time>' }),
  ended_at: time('When it ended.', {
    on: 'close',
    isRefusedElsewhere: true,
    example: 1_767_229_200,
    option: '<time>',
  }),
  remind_every: pause('Time between reminders, 1m to 1d; null ends them.', {
    example: '10m',
    option: '<duration>',
    help: 'how often to remind until it is acknowledged: 1m to 1d',
    answer: 'The time between reminders.',
  }),
  escalate: steps('Up to 5 steps, whose after and level rise; null removes them.', {
    example: [
      { after: '10m', level: 1 },
      { after: '30m', level: 2, severity: 'critical' },
    ],
    option: '<step>',
    help: 'a step, such as 30m:1:critical; all together replace the steps, none removes them',
  }),
  tags: TAGS,
  images: IMAGES,
  attrs: ATTRS,
  metadata: METADATA,
  ciphertext: patchText(CIPHERTEXT, ENCRYPTED),
  thing_id: patchText(THING_SCOPE, {
    ...THING,
    help: 'the Thing that it happens to',
    answer: 'The Thing that it belongs to.',
  }),
}

export const THING_FIELDS = {
  title: patchText('The name of the object.', TITLE),
  description: patchText('A description of the object.', DESCRIPTION),
  tags: TAGS,
  images: IMAGES,
  primary_image: patchText('The image to show first.', { example: PICTURE, option: '<url>' }),
  location_type: patchText('Free text.', {
    example: 'geo',
    option: '<type>',
    help: 'the form of the location value',
  }),
  location_value: patchText('Free text.', {
    example: '48.2082,16.3738',
    option: '<location>',
    help: 'where it is',
  }),
  created_at: time('When it began.', { on: 'create', example: 1_735_689_600, option: '<time>' }),
  deleted_at: time('When it ceased to be.', {
    on: 'delete',
    isRefusedElsewhere: true,
    example: 1_767_229_200,
    option: '<time>',
    help: 'when it ended',
  }),
  external_ids: keyed('Names in other systems: JSON values by key; null removes a key.', {
    example: { serial: 'B-2026-0001' },
    option: '<key=id>',
    optionName: 'externalId',
    help: 'its id elsewhere; key=null removes it',
    answer: 'Names in other systems by key.',
  }),
  attrs: ATTRS,
  metadata: METADATA,
  ciphertext: patchText(CIPHERTEXT, ENCRYPTED),
}

/** The fields that an action takes, in their order. */
export const fieldsOf = <Named extends Fields>(
  fields: Named,
  action: string,
): readonly (readonly [name: keyof Named & string, field: Field])[] =>
  Object.entries(fields).filter(([, { on = action }]) => on === action)
