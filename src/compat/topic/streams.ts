// Subscribers of the topic style: the feeds of channels as lines, events, plain text or frames.
//
//   topic-channels.ts   the channels that they may read
//   topic-start.ts      the entry at which they begin
//   topic-reading.ts    the entries that they have yet to see
//   topic-forms.ts      the forms in which they get messages

import { isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Acceptance } from '#src/acceptance/acceptance'
import type { FeedFollowing, Following } from '#src/acceptance/feed-following'
import type { FeedUpdate } from '#src/acceptance/follower'
import { SUBSCRIPTION_HEADERS, parametersOf } from './parameters.ts'
import { SUBSCRIPTION_QUERY } from './schemas.ts'
import { readSubscription, topicMessageOf } from './subscription.ts'
import type { Subscription } from './subscription.ts'
import { STREAM } from '#src/ingress/answerer'
import type { Answerer, StreamData } from '#src/ingress/answerer'
import { QUERY } from '#src/ingress/reader'
import type { Request } from '#src/ingress/request'
import type { Row } from '#src/ingress/row'
import { spellings, tokenFrom } from '#src/compat/sending'
import { openTopics, stillOpen } from './channels.ts'
import type { Topic } from './channels.ts'
import { FORMS, chunksOf } from './forms.ts'
import type { Form, StreamItem } from './forms.ts'
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
        const messages = page.map((read) => topicMessageOf(read.entry, read.topic.name))
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
