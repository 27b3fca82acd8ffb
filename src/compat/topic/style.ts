// The topic style: a text is published to a topic, which is the key. (Specification: Compatibility
// endpoints; docs/migrating.md)

import { fault, isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Acceptance } from '#src/acceptance/acceptance'
import { readJson } from '#src/schemas/json/json'
import { invalid } from '#src/schemas/values'
import { readPublication } from './publication.ts'
import { SEQUENCE_QUERY } from './schemas.ts'
import { TOPIC_HEADERS, isYes, parametersOf, readJsonPublication } from './parameters.ts'
import type { TopicParameters } from './parameters.ts'
import type { Style } from '#src/ingress/ingress'
import { BODY_BYTES_MAX, QUERY, bytesBody, withQuery } from '#src/ingress/reader'
import type { Request } from '#src/ingress/request'
import type { About, Row } from '#src/ingress/row'
import { send, spellings, tokenFrom } from '#src/compat/sending'
import { openTopics } from './channels.ts'
import {
  ABOUT_JSON_PUBLICATION,
  PREFLIGHT,
  TOPIC_ANSWER,
  aboutPublication,
  aboutTopic,
  published,
} from './answers.ts'
import type { Published } from './answers.ts'
import { streamRows } from './streams.ts'

export interface TopicOptions {
  /** The prefix of the style; '' for the root. */
  readonly prefix: string
  /** Milliseconds for which the feed keeps a message. */
  readonly keptMs: number
}

type Sent = Request<Uint8Array | undefined>

const BYTES = withQuery(bytesBody(BODY_BYTES_MAX))
const ALIASES = ['publish', 'send', 'trigger'] as const
const NOTHING_SENT = new Uint8Array()
const NOT_FOUND = fault('route_not_found')

const SHARED = { token: 'required', tokenFrom, credentials: 'path', isSafe: false } as const
const OPEN = { token: 'none', credentials: 'none', reader: QUERY } as const

/** The rows of the topic style. */
export const topicStyle =
  (options: TopicOptions): Style =>
  (acceptance) => [
    ...publishRows(acceptance, options),
    ...questionRows(acceptance, options.prefix),
    ...streamRows(acceptance, options.prefix),
    ...changeRows(options.prefix),
    ...preflightRows(options.prefix),
  ]

function publishRows(acceptance: Acceptance, { prefix, keptMs }: TopicOptions): readonly Row[] {
  const answerer = published(keptMs)
  const shared = { ...SHARED, headers: TOPIC_HEADERS, answerer }
  const body = { reader: BYTES, methods: ['POST', 'PUT'] } as const
  const toTopic = (request: Sent): Promise<Answer<Published>> =>
    publish(acceptance, request, {
      key: request.parameters['topic'] ?? '',
      parameters: parametersOf(request.headers, request.query),
      sequenceId: request.parameters['sequence_id'] ?? '',
    })
  const rowAt = (path: string, about: About): Row => ({
    ...shared,
    ...body,
    ...spellings(`${prefix}/{topic}${path}`),
    handle: toTopic,
    about,
  })
  return [
    rowAt('', aboutPublication('Publish a text')),
    ...ALIASES.map((alias) => rowAt(`/${alias}`, aboutPublication('Publish a text'))),
    rowAt('/{sequence_id}', aboutPublication('Publish a text with a sequence id', SEQUENCE_QUERY)),
    ...ALIASES.map((alias): Row => ({
      ...shared,
      ...spellings(`${prefix}/{topic}/${alias}`),
      methods: ['GET'],
      reader: QUERY,
      handle: toTopic,
      about: aboutPublication('Publish by GET'),
    })),
    {
      ...shared,
      ...body,
      ...spellings(prefix),
      credentials: 'body',
      handle: (request: Sent) => publishJson(acceptance, request),
      about: ABOUT_JSON_PUBLICATION,
    },
  ]
}

interface Aimed {
  readonly key: string
  readonly parameters: TopicParameters
  readonly sequenceId: string
}

async function publish(
  acceptance: Acceptance,
  request: Sent,
  { key, parameters, sequenceId }: Aimed,
): Promise<Answer<Published>> {
  const publication = readPublication({
    parameters,
    sequenceId,
    nowMs: request.receivedAtMs,
    body: request.body ?? NOTHING_SENT,
    contentType: request.headers['content-type'] ?? '',
    contentEncoding: request.headers['content-encoding'] ?? '',
  })
  if (isFault(publication)) return publication
  const { message } = publication
  const accepted = await send(acceptance, key, { message, caller: request })
  return isFault(accepted) ? accepted : { key, accepted, publication }
}

async function publishJson(acceptance: Acceptance, request: Sent): Promise<Answer<Published>> {
  const body = readJson(request.body ?? NOTHING_SENT)
  if (isFault(body)) return body
  const around = parametersOf(request.headers, request.query)
  const sent = readJsonPublication(body, around)
  if (isFault(sent)) return sent
  const { topic: key, parameters } = sent
  if (key.trim() === '') {
    return invalid('topic', 'is required')
  }
  const asText = { ...request, headers: {}, body: NOTHING_SENT }
  return publish(acceptance, asText, { key, parameters, sequenceId: '' })
}

/** Questions of clients before they publish or subscribe. */
function questionRows(acceptance: Acceptance, prefix: string): readonly Row[] {
  const question = { methods: ['GET'], answerer: TOPIC_ANSWER, isSafe: true } as const
  return [
    {
      ...SHARED,
      ...question,
      ...spellings(`${prefix}/{topic}/auth`),
      reader: QUERY,
      handle: async (request) => {
        const topics = await openTopics(acceptance, request)
        return isFault(topics) ? topics : { success: true }
      },
      about: aboutTopic('Ask whether the keys open their channels'),
    },
    {
      ...OPEN,
      ...question,
      ...spellings(`${prefix}/{topic}`),
      handle: ({ query }) =>
        isYes(query.get('up') ?? '') ? { unifiedpush: { version: 1 } } : NOT_FOUND,
      about: aboutTopic('Discover UnifiedPush with ?up=1'),
    },
    {
      ...OPEN,
      ...question,
      ...spellings(`${prefix}/v1/health`),
      handle: () => ({ healthy: true }),
      about: aboutTopic('Ask for health'),
    },
    {
      ...OPEN,
      ...question,
      ...spellings(`${prefix}/v1/account`),
      handle: () => ({ username: '*', role: 'anonymous', stats: STATS }),
      about: aboutTopic('Ask for the account'),
    },
    {
      ...OPEN,
      ...question,
      ...spellings(`${prefix}/v1/version`),
      // The tool tells it to administrators alone.
      handle: () => NOT_FOUND,
      about: aboutTopic('Ask for the version'),
    },
  ]
}

/** The use and the rest of each allowance: clients read all of them as whole numbers. */
const STATS = {
  messages: 0,
  messages_remaining: 2 ** 31 - 1, // Nothing counts them.
  emails: 0,
  emails_remaining: 0,
  calls: 0,
  calls_remaining: 0,
  reservations: 0,
  reservations_remaining: 0,
  attachment_total_size: 0,
  attachment_total_size_remaining: 0,
}

/** A notification that was sent cannot be changed: answered as by a server of before that. */
const changeRows = (prefix: string): readonly Row[] =>
  (
    [
      ['DELETE', ''],
      ['PUT', '/clear'],
      ['PUT', '/read'],
    ] as const
  ).map(([method, path]) => ({
    ...OPEN,
    ...spellings(`${prefix}/{topic}/{sequence_id}${path}`),
    methods: [method],
    isSafe: false,
    handle: () => NOT_FOUND,
    answerer: TOPIC_ANSWER,
    about: aboutTopic('Not offered: change what was published'),
  }))

const preflightRows = (prefix: string): readonly Row[] =>
  ['', '/{topic}', '/{topic}/{sequence_id}'].map((path) => ({
    ...OPEN,
    ...spellings(`${prefix}${path}`),
    methods: ['OPTIONS'],
    isSafe: true,
    handle: () => ({}),
    answerer: PREFLIGHT,
    about: aboutTopic('Ask whether a page of another origin may publish', {
      raw: { mediaType: 'text/plain', schema: { type: 'string' } },
    }),
  }))
