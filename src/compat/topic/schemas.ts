// The topic style in the OpenAPI document: requests of its clients, and the answers.

import { given, object, requiredText, text } from '#src/schemas/json-schema'
import type { JsonSchema, ObjectSchema } from '#src/schemas/json-schema'
import {
  SHORT_ACTIONS,
  VISIBLE_TEXT,
  WEB_URL_FORM,
  anyCase,
  trimmedOrBlank,
} from '#src/schemas/patterns'
import { namesOf } from './parameters.ts'
import { PRIORITIES } from './publication.ts'
import type { TopicParameter } from './parameters.ts'

const WEB_URL = trimmedOrBlank(WEB_URL_FORM)

/** The forms of a publication's parameters that are refused in another one. */
const PUBLICATION_FORMS: Partial<Record<TopicParameter, string>> = {
  priority: trimmedOrBlank(`[1-5]|${anyCase(Object.keys(PRIORITIES))}`),
  icon: WEB_URL,
  attach: WEB_URL,
  actions: SHORT_ACTIONS,
  sequence_id: trimmedOrBlank('[A-Za-z0-9_-]{1,64}'),
}

/** The same of a subscription. */
const SUBSCRIPTION_FORMS: Partial<Record<TopicParameter, string>> = {
  since: trimmedOrBlank('all|none|latest|[0-9]{1,9}[smhd]|[0-9]{1,11}|[A-Za-z0-9]{12}'),
}

const PUBLICATION: Partial<Record<TopicParameter, string>> = {
  message: 'The text where the body is empty.',
  title: 'The title.',
  priority: '1 to 5, or min, low, default, high, max, urgent.',
  tags: 'Tags, with commas between them.',
  click: 'The URL that a tap opens.',
  icon: 'The URL of an icon.',
  attach: 'The URL of an attachment.',
  actions: 'Actions in the short form; as JSON, too, when it is valid.',
  markdown: '1, yes or true: the text is Markdown.',
  unifiedpush: '1, yes or true: the body is a UnifiedPush message.',
  sequence_id: 'The id of the notification in its sequence.',
}

const SUBSCRIPTION: Partial<Record<TopicParameter, string>> = {
  poll: '1, yes or true: ends with what is kept.',
  since: 'all, none, latest, the id of a message, Unix seconds, or a duration such as 10m.',
  id: 'Only the message with this id.',
  message: 'Only messages with this text.',
  title: 'Only messages with this title.',
  priority: 'Only messages with one of these priorities.',
  tags: 'Only messages with all of these tags.',
}

/**
 * Each parameter in the query, under its usual name. The description names the others, which are
 * names of headers too: a header wins, so a program sends a parameter in one place.
 */
const parameters = (
  described: Partial<Record<TopicParameter, string>>,
  forms: Partial<Record<TopicParameter, string>>,
): ObjectSchema =>
  object(
    Object.fromEntries(
      Object.entries(described).map(([key, description]) => {
        const name = key as TopicParameter
        const names = namesOf(name)
        const usual = names.find((one) => !one.startsWith('x-')) ?? name
        const others = names.filter((one) => one !== usual).join(', ')
        const schema = given('string', `${description} In the query, or a header: ${others}.`)
        const pattern = forms[name]
        return [usual, pattern === undefined ? schema : { ...schema, pattern }]
      }),
    ),
    [],
  )

const { sequence_id: _, ...WITHOUT_SEQUENCE } = PUBLICATION

export const PUBLICATION_QUERY = parameters(PUBLICATION, PUBLICATION_FORMS)
/** The same where the sequence id stands in the path. */
export const SEQUENCE_QUERY = parameters(WITHOUT_SEQUENCE, PUBLICATION_FORMS)
export const SUBSCRIPTION_QUERY = parameters(SUBSCRIPTION, SUBSCRIPTION_FORMS)

/** Any text; bytes that are no text count for UnifiedPush alone. */
export const PUBLICATION_BODY: JsonSchema = {
  type: 'string',
  description: 'The text, whatever the Content-Type says.',
}

const stringsOf = (descriptions: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(descriptions).map(([name, description]) => [name, given('string', description)]),
  )

export const JSON_PUBLICATION = object(
  {
    topic: requiredText('The key.', VISIBLE_TEXT),
    message: { type: ['string', 'null'], description: 'The text.' },
    title: { type: ['string', 'null'], description: 'The title.' },
    click: { type: ['string', 'null'], description: 'The URL that a tap opens.' },
    filename: { type: ['string', 'null'], description: 'The name of the attachment.' },
    icon: text('The URL of an icon.', WEB_URL),
    attach: text('The URL of an attachment.', WEB_URL),
    priority: {
      type: ['integer', 'null'],
      minimum: 0,
      maximum: 5,
      description: '1 to 5; 0 is none.',
    },
    tags: { type: ['array', 'null'], items: { type: 'string' }, description: 'The tags.' },
    actions: { type: ['array', 'null'], items: { type: 'object' }, description: 'The actions.' },
    markdown: { type: ['boolean', 'null'], description: 'True when the text is Markdown.' },
  },
  ['topic'],
)

/** A message as publishers and subscribers get it. */
export const TOPIC_MESSAGE = object(
  {
    id: given('string', 'The id of the message.'),
    time: given('integer', 'Unix seconds.'),
    expires: given('integer', 'Unix seconds: until then it is kept.'),
    event: given('string', 'What this tells of.'),
    topic: given('string', 'The topic, in which no password stands.'),
    ...stringsOf({ title: 'The title.', message: 'The text.', click: 'The URL that a tap opens.' }),
    priority: given('integer', '1 to 5.'),
    tags: { type: 'array', items: { type: 'string' }, description: 'The tags.' },
    attachment: given('object', 'name and url of the attachment.'),
    actions: {
      type: 'array',
      items: { type: 'object' },
      description: 'Up to three, each with id, action and label.',
    },
  },
  ['id', 'time', 'event', 'topic'],
)

export const TOPIC_FAILURE = object(
  {
    code: given('integer', 'The status and two digits more.'),
    http: given('integer', 'The status.'),
    error: given('string', 'The error, for a reader.'),
  },
  ['code', 'http', 'error'],
)
