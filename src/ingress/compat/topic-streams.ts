// Subscribers of the topic style: the feed of a channel as lines, events or plain text.

import type { ChannelInfo } from '#domain/channel'
import { fault, isFault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { Acceptance } from '#src/acceptance/acceptance'
import type { FeedFollowing } from '#src/acceptance/feed-following'
import { maskedKey, readKey } from '#src/schemas/compat/key'
import { SUBSCRIPTION_HEADERS, parametersOf } from '#src/schemas/compat/topic-parameters'
import { readSubscription, topicMessageOf } from '#src/schemas/compat/topic-subscription'
import type { Subscription } from '#src/schemas/compat/topic-subscription'
import { STREAM } from '#src/ingress/answerer'
import type { Answerer, StreamData } from '#src/ingress/answerer'
import { QUERY } from '#src/ingress/reader'
import type { Request } from '#src/ingress/request'
import type { Row } from '#src/ingress/row'
import { openingOf, spellings, tokenFrom } from './sending.ts'
import { startOf } from './topic-start.ts'
import { TOPIC_ANSWER, TOPIC_HEADERS_OF_ANSWERS, aboutTopic } from './topic-shape.ts'

interface Told {
  readonly event: string
  readonly message?: string
}

/** How one form writes what it tells. */
interface Form {
  readonly contentType: string
  readonly write: (told: Told) => string
}

const FORMS: Readonly<Record<'json' | 'sse' | 'raw', Form>> = {
  json: {
    contentType: 'application/x-ndjson; charset=utf-8',
    write: (told) => `${JSON.stringify(told)}\n`,
  },
  sse: {
    contentType: 'text/event-stream; charset=utf-8',
    write: (told) => {
      const event = told.event === 'message' ? '' : `event: ${told.event}\n`
      return `${event}data: ${JSON.stringify(told)}\n\n`
    },
  },
  raw: {
    contentType: 'text/plain; charset=utf-8',
    write: (told) => `${(told.message ?? '').replace(/[\r\n]+/g, ' ')}\n`,
  },
}

const PAGE = 200

/** Streams as the tool does; refuses in its shape. */
const STREAMED: Answerer<StreamData> = {
  isLocalised: false,
  success: (data, request) => STREAM.success(data, request),
  failure: (refusal, request) => TOPIC_ANSWER.failure(refusal, request),
}

/** The rows of subscribers. */
export const streamRows = (acceptance: Acceptance, prefix: string): readonly Row[] =>
  Object.entries(FORMS).map(([name, form]) => ({
    ...spellings(`${prefix}/{topic}/${name}`),
    methods: ['GET'],
    token: 'required',
    tokenFrom,
    credentials: 'path',
    headers: SUBSCRIPTION_HEADERS,
    reader: QUERY,
    isSafe: true,
    handle: (request) => subscribe(acceptance, request, form),
    answerer: STREAMED,
    about: aboutTopic(`Subscribe as ${name}`),
  }))

async function subscribe(
  acceptance: Acceptance,
  request: Request,
  form: Form,
): Promise<Answer<StreamData>> {
  const { following, channels } = acceptance
  const key = request.parameters['topic'] ?? ''
  const parameters = parametersOf(request.headers, request.query)
  const subscription = readSubscription(parameters, request.receivedAtMs)
  if (isFault(subscription)) return subscription
  const opening = await openingOf(acceptance, key, request)
  if (isFault(opening)) return opening
  const info = await channels.info(opening.credentials, opening.caller)
  if (isFault(info)) return info
  if (following.isFull) return fault('server_busy', { detail: 'too many subscribers read here' })
  const reading = { topic: topicOf(key), info, subscription, nowMs: request.receivedAtMs, form }
  return {
    contentType: form.contentType,
    headers: TOPIC_HEADERS_OF_ANSWERS,
    open: (signal) => lines(following, reading, signal),
  }
}

/** Clients tell their topics apart by this name; a password stands in none. */
const topicOf = (key: string): string => {
  const read = readKey(key)
  return read.kind === 'alias' ? read.alias : maskedKey(key)
}

interface Reading {
  readonly topic: string
  readonly info: ChannelInfo
  readonly subscription: Subscription
  readonly nowMs: number
  readonly form: Form
}

async function* lines(
  following: FeedFollowing,
  { topic, info, subscription, nowMs, form }: Reading,
  signal: AbortSignal,
): AsyncIterable<string> {
  const { channelId } = info
  const beside = (event: string, id: string): string => {
    const told = { id, time: Math.floor(nowMs / 1000), event, topic }
    return form.write(told)
  }
  const follower = following.follow(channelId, signal)
  try {
    if (!subscription.isPoll) yield beside('open', 'open00000000')
    const start = await startOf(following, info, subscription.since)
    let afterSeq = start.afterSeq
    for (;;) {
      for await (const entries of pagesAfter(following, channelId, { ...start, afterSeq })) {
        afterSeq = Math.max(afterSeq, entries.at(-1)?.seq ?? 0)
        const told = entries.map((entry) => topicMessageOf(entry, topic))
        const text = told.filter(subscription.accepts).map(form.write).join('')
        if (text !== '') yield text
      }
      if (subscription.isPoll) return
      const heard = await follower.next()
      if (heard === 'end') return
      if (heard === 'quiet') yield beside('keepalive', 'keepalive000')
    }
  } finally {
    follower.stop()
  }
}

/** Messages behind a seq, page by page. */
async function* pagesAfter(
  following: FeedFollowing,
  channelId: ChannelId,
  from: { readonly afterSeq: number; readonly sinceMs?: number | undefined },
) {
  let next: number | undefined = from.afterSeq
  while (next !== undefined) {
    const query = { channelId, afterSeq: next, model: 'message', limit: PAGE } as const
    const page = await following.page(
      from.sinceMs === undefined ? query : { ...query, sinceMs: from.sinceMs },
    )
    if (page.items.length > 0) yield page.items
    next = page.next
  }
}
