// The answers of the topic style. `code` is the status and two more digits, by which its clients
// tell refusals apart.

import type { Fault } from '#domain/fault'
import type { Accepted } from '#src/acceptance/intent'
import { maskedKey } from '#src/compat/key'
import {
  JSON_PUBLICATION,
  PUBLICATION_BODY,
  PUBLICATION_QUERY,
  TOPIC_FAILURE,
  TOPIC_MESSAGE,
} from './schemas.ts'
import { topicIdOf } from './messages.ts'
import type { Publication } from './publication.ts'
import { imitation } from '#src/ingress/answerer'
import type { Answerer, Imitated } from '#src/ingress/answerer'
import type { Header } from '#src/http/reply'
import { lineOf } from '#src/refusals/refusal'
import type { About } from '#src/ingress/row'
import { COMPATIBILITY_CODES, GUARDS } from '#src/compat/sending'

/** The outcome of a publication. */
export interface Published {
  readonly key: string
  readonly accepted: Accepted
  readonly publication: Publication
}

export const TOPIC_HEADERS_OF_ANSWERS: readonly Header[] = [
  ...GUARDS,
  ['access-control-allow-origin', '*'],
]

const json = (data: object): Imitated => ({
  contentType: 'application/json',
  headers: TOPIC_HEADERS_OF_ANSWERS,
  body: `${JSON.stringify(data)}\n`,
})

const seconds = (ms: number): number => Math.floor(ms / 1000)

/** Codes by the member at fault. */
const CODE_OF_FIELD: Readonly<Record<string, number>> = {
  email: 40001,
  delay: 40004,
  deliver_at: 40005,
  priority: 40007,
  since: 40008,
  topic: 40009,
  attach: 40013,
  filename: 40014,
  actions: 40018,
  icon: 40021,
  call: 40032,
  template: 40047,
  sequence_id: 40049,
}

function codeOf({ code, field }: Fault, status: number): number {
  if (code === 'rate_limited') return 42901
  if (code === 'body_too_large') return 41303
  if (code === 'websocket_upgrade_required') return 40016
  if (code === 'invalid_json_syntax' || code === 'invalid_json_data') return 40024
  if (status === 400) return CODE_OF_FIELD[field ?? ''] ?? 40000
  if (status === 500) return 50001
  return status * 100 + 1
}

/** The tool has one parameter for a duration and a time, and a caller knows it as `delay`. */
const sentenceOf = (fault: Fault): string => lineOf(fault).replace('deliver_at', 'delay')

const failure = (fault: Fault, status: number): Imitated =>
  json({ code: codeOf(fault, status), http: status, error: sentenceOf(fault) })

/** Answers a publication, which the feed keeps for `keptMs`. */
export const published = (keptMs: number): Answerer<Published> =>
  imitation({
    success: ({ key, accepted, publication }, { receivedAtMs }) => {
      const time = publication.message.deliver_at ?? receivedAtMs
      return json({
        id: topicIdOf(accepted.entityId),
        time: seconds(time),
        ...(publication.isKept && { expires: seconds(time + keptMs) }),
        event: 'message',
        topic: maskedKey(key),
        ...publication.echo,
      })
    },
    failure,
  })

/** Answers with the handler's data. */
export const TOPIC_ANSWER: Answerer<object> = imitation({ success: json, failure })

/** Answers the preflight of a browser. */
export const PREFLIGHT: Answerer<object> = imitation({
  success: () => ({
    contentType: 'text/plain',
    headers: [
      ...TOPIC_HEADERS_OF_ANSWERS,
      ['access-control-allow-methods', 'GET, PUT, POST, PATCH, DELETE'],
      ['access-control-allow-headers', '*'],
    ],
    body: '',
  }),
  failure,
})

/** The description of a row of this style: the given parts over those that all rows share. */
export const aboutTopic = (summary: string, more: Partial<About> = {}): About => ({
  tag: 'Topic style',
  summary,
  codes: COMPATIBILITY_CODES,
  raw: { mediaType: 'application/json', schema: { type: 'object' } },
  rawRefusal: TOPIC_FAILURE,
  ...more,
})

const PUBLISHED: Partial<About> = {
  raw: { mediaType: 'application/json', schema: TOPIC_MESSAGE },
}

/** The description of a row that publishes headers, query and body. */
export const aboutPublication = (summary: string, query = PUBLICATION_QUERY): About =>
  aboutTopic(summary, {
    ...PUBLISHED,
    query,
    bodies: { 'text/plain': PUBLICATION_BODY },
    isBodyOptional: true,
  })

export const ABOUT_JSON_PUBLICATION = aboutTopic('Publish JSON, with the topic in it', {
  ...PUBLISHED,
  codes: [...COMPATIBILITY_CODES, 'invalid_json_syntax', 'invalid_json_data'],
  bodies: { 'application/json': JSON_PUBLICATION },
})
