// Subscribers of the topic style: the feeds of channels as lines, events, plain text or frames.

import { isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Acceptance } from '#src/acceptance/acceptance'
import type { FeedFollowing, Following } from '#src/acceptance/feed-following'
import type { FeedUpdate } from '#src/acceptance/follower'
import { SUBSCRIPTION_HEADERS, parametersOf } from './parameters.ts'
import { SUBSCRIPTION_QUERY } from './schemas.ts'
import { topicMessageOf } from './messages.ts'
import { readSubscription } from './subscription.ts'
import type { Subscription } from './subscription.ts'
import { STREAM } from '#src/ingress/answerer'
import type { Answerer, StreamData } from '#src/ingress/answerer'
import { QUERY } from '#src/ingress/reader'
import type { Request } from '#src/ingress/request'
import type { Row } from '#src/ingress/row'
import { spellings, tokenFrom } from '#src/compat/sending'
import { openTopics, stillOpen } from './channels.ts'
import type { Topic } from './channels.ts'
import { placeOf, readOn } from './reading.ts'
import { TOPIC_ANSWER, TOPIC_HEADERS_OF_ANSWERS, aboutTopic } from './answers.ts'

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
    ...(form.isFramed === true && { isWebSocket: true }),
    handle: (request) => subscribe(acceptance, request, form),
    answerer: STREAMED,
    about: aboutTopic(`Subscribe as ${name}`, {
      query: SUBSCRIPTION_QUERY,
      ...(form.isFramed === true && { upgradesTo: 'WebSocket' }),
      raw: { mediaType: form.contentType, schema: { description: form.description } },
    }),
  }))

async function subscribe(
  acceptance: Acceptance,
  request: Request,
  form: Form,
): Promise<Answer<StreamData>> {
  const parameters = parametersOf(request.headers, request.query)
  const subscription = readSubscription(parameters, request.receivedAtMs)
  if (isFault(subscription)) return subscription
  const topics = await openTopics(acceptance, request)
  if (isFault(topics)) return topics
  const following: Following = {
    channelIds: topics.map(({ info }) => info.channelId),
    expiresAt: firstOf(topics.map(({ expiresAt }) => expiresAt)),
    address: request.isCounted === true ? request.origin?.address : undefined,
    stillOpens: (receivedAtMs) => stillOpen(acceptance, topics, receivedAtMs),
  }
  const refusal = acceptance.following.refusal(following)
  if (refusal !== undefined) return refusal
  const reading = { topics, subscription, following, nowMs: request.receivedAtMs }
  return {
    contentType: form.contentType,
    headers: TOPIC_HEADERS_OF_ANSWERS,
    open: (signal) => written(form, itemsOf(acceptance.following, reading, signal)),
  }
}

/** The first of the times at which keys expire; 0 when none does. */
function firstOf(times: readonly number[]): number {
  const expiring = times.filter((time) => time > 0)
  return expiring.length === 0 ? 0 : Math.min(...expiring)
}

async function* written(
  form: Form,
  groups: AsyncIterable<readonly StreamItem[]>,
): AsyncGenerator<string> {
  for await (const group of groups) yield* chunksOf(form, group)
}

interface Reading {
  readonly topics: readonly Topic[]
  readonly subscription: Subscription
  readonly following: Following
  readonly nowMs: number
}

async function* itemsOf(
  feeds: FeedFollowing,
  { topics, subscription, following, nowMs }: Reading,
  signal: AbortSignal,
): AsyncGenerator<readonly StreamItem[]> {
  const topic = topics.map(({ name }) => name).join(',')
  const time = Math.floor(nowMs / 1000)
  const follower = feeds.follow(following, signal)
  if (follower === undefined) return
  try {
    // The credentials may have changed between their check and the following.
    if (!(await follower.prove())) return
    if (!subscription.isPoll) yield [{ id: 'open00000000', time, event: 'open', topic }]
    const places = await Promise.all(topics.map((each) => placeOf(feeds, each, subscription.since)))
    let update: FeedUpdate = 'quiet'
    while (update !== 'end') {
      const news = update === 'quiet' ? places : places.filter(hasNews(update))
      for await (const page of readOn(feeds, news)) {
        const messages = page.map((read) => topicMessageOf(read.entry, read.topic.name, read.event))
        yield messages.filter(subscription.accepts)
      }
      if (subscription.isPoll) return
      update = await follower.next()
      if (update === 'quiet') yield [{ id: 'keepalive000', time, event: 'keepalive', topic }]
    }
  } finally {
    follower.stop()
  }
}

const hasNews =
  (news: Exclude<FeedUpdate, string>) =>
  ({ topic }: { readonly topic: Topic }): boolean =>
    news.has(topic.info.channelId)

/** An object that the tool sends: a message, or news of the stream itself. */
type StreamItem = Readonly<Record<string, unknown>> & {
  readonly event: string
  readonly message?: string
}

/** Writes objects in one form. */
interface Form {
  readonly contentType: string
  /** The description of the answer in the OpenAPI document. */
  readonly description: string
  readonly write: (item: StreamItem) => string
  /** Its frames hold one object each. */
  readonly isFramed?: true
}

/** By the last part of the path. */
const FORMS: Readonly<Record<'json' | 'sse' | 'raw' | 'ws', Form>> = {
  json: {
    contentType: 'application/x-ndjson; charset=utf-8',
    description: 'A message in JSON on each line.',
    write: (item) => `${JSON.stringify(item)}\n`,
  },
  sse: {
    contentType: 'text/event-stream; charset=utf-8',
    description: 'An event for each message, which is its data in JSON.',
    write: (item) => {
      const event = item.event.startsWith('message') ? '' : `event: ${item.event}\n`
      return `${event}data: ${JSON.stringify(item)}\n\n`
    },
  },
  raw: {
    contentType: 'text/plain; charset=utf-8',
    description: 'The text of a message on each line.',
    write: (item) => `${(item.message ?? '').replace(/[\r\n]+/g, ' ')}\n`,
  },
  // Pings show that the connection lives, so this form leaves keepalives out.
  ws: {
    contentType: 'application/json',
    description: 'A message in JSON in each frame.',
    write: (item) => (item.event === 'keepalive' ? '' : JSON.stringify(item)),
    isFramed: true,
  },
}

/** The text of some objects: one for all of them, or one for each frame. */
function chunksOf(form: Form, items: readonly StreamItem[]): readonly string[] {
  const texts = items.map(form.write).filter((text) => text !== '')
  if (form.isFramed === true || texts.length === 0) return texts
  return [texts.join('')]
}
