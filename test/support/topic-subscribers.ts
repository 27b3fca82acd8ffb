// Subscribers of the topic style, before a channel with three messages.

import type { ExecutionContext } from 'ava'

import type { FeedEntry } from '#domain/feed'
import { parseMessageId, parseOperationId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import { startStyles } from '#test/support/compatibility-rig'
import type { Rig, RigOptions } from '#test/support/start-ingress'
import { until } from '#test/support/until'

const KEPT: readonly object[] = [
  { title: 'T1', body: 'first\nline', severity: 'critical', tags: ['a', 'b'] },
  { title: 'T2', body: 'second', url: 'https://example.com' },
  { title: 'T3', severity: 'low', metadata: { 'compat.topic.priority': 1 } },
]

/** The channel keeps the messages T1, T2 and T3. */
export async function startTopics(t: ExecutionContext, options: RigOptions = {}): Promise<Rig> {
  const rig = await startStyles(t, options)
  rig.reads.entries = KEPT.map((fields, index) => messageOf(rig, index + 1, fields))
  return rig
}

/** A message as the feed keeps it; `seq` 1 was accepted nine minutes ago, 2 eight, and so on. */
export function messageOf(
  rig: Rig,
  seq: number,
  fields: object,
  channelId: ChannelId = rig.channelId,
): FeedEntry {
  const entityId = parseMessageId(String(seq).repeat(32))
  const opId = parseOperationId(`op:${seq}`)
  if (entityId === undefined || opId === undefined) throw new Error('bad fixture')
  const acceptedAt = rig.time.nowMs() - (10 - seq) * 60_000
  const payload = JSON.stringify(fields)
  return { channelId, seq, opId, entityId, model: 'message', action: 'send', acceptedAt, payload }
}

/** Appends a message to the feed and announces it; gives the entry. */
export function publish(
  rig: Rig,
  seq: number,
  fields: object,
  channelId: ChannelId = rig.channelId,
): FeedEntry {
  const next = messageOf(rig, seq, fields, channelId)
  rig.reads.entries.push(next)
  rig.bus.announce([{ channelId, entries: [next] }])
  return next
}

/** The objects of an answer: one in each line. */
export const linesOf = (text: string): readonly Readonly<Record<string, unknown>>[] =>
  text
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

/** The answer as text: it is more than one JSON text. */
export async function read(rig: Rig, path: string): Promise<{ headers: Headers; text: string }> {
  const answer = await fetch(rig.url + path)
  return { headers: answer.headers, text: await answer.text() }
}

/** The titles in an answer. */
export const titles = (text: string): readonly unknown[] => linesOf(text).map(({ title }) => title)

/** A WebSocket and the frames that it got. */
export class Subscriber {
  readonly frames: Readonly<Record<string, unknown>>[] = []
  readonly socket: WebSocket
  readonly closed: Promise<{ readonly code: number }>

  constructor(t: ExecutionContext, rig: Rig, path: string) {
    this.socket = new WebSocket(`ws://127.0.0.1:${rig.port}${path}`)
    this.socket.addEventListener('message', ({ data }) => {
      this.frames.push(JSON.parse(String(data)) as Record<string, unknown>)
    })
    this.closed = new Promise((resolve) => this.socket.addEventListener('close', resolve))
    t.teardown(() => this.socket.close())
  }

  titles(): readonly unknown[] {
    return this.frames.filter(({ event }) => event === 'message').map(({ title }) => title)
  }

  until(count: number): Promise<void> {
    return until(`${count} frames`, () => this.frames.length >= count)
  }
}
