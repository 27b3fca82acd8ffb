// The imitated tools: their clients work unchanged once their address and key are ours.
// (Specification: Compatibility endpoints; docs/migrating.md)
//
//   topic.ts, topic-shape.ts            a text to a topic; topic-streams.ts: its subscribers
//   sendkey.ts                          title and desp to a key
//   devicekey.ts, devicekey-shape.ts    v1 in the path, v2 in the body
//   sending.ts, values-body.ts          shared code
//
// src/schemas/compat turns their fields into those of a Message.

import type { RootStyle, Style } from '#src/ingress/ingress'
import { deviceKeyStyle } from './devicekey.ts'
import { PUSHED } from './devicekey-shape.ts'
import { SENT, sendKeyStyle } from './sendkey.ts'
import { topicStyle } from './topic.ts'
import { TOPIC_ANSWER } from './topic-shape.ts'

export interface CompatibilityOptions {
  /** Milliseconds for which the feed keeps a message. */
  readonly keptMs: number
}

/** All styles, each at its own prefix. */
export const compatibilityStyles = ({ keptMs }: CompatibilityOptions): readonly Style[] => [
  topicStyle({ prefix: '/compat-topic', keptMs }),
  sendKeyStyle({ prefix: '/compat-sendkey' }),
  deviceKeyStyle({ prefix: '/compat-devicekey' }),
]

/** One style without a prefix, with its answerer for unknown paths. */
export function styleAtRoot(
  name: 'topic' | 'sendkey' | 'devicekey',
  { keptMs }: CompatibilityOptions,
): Pick<RootStyle, 'style' | 'unknown'> {
  const prefix = ''
  switch (name) {
    case 'topic':
      return { style: topicStyle({ prefix, keptMs }), unknown: TOPIC_ANSWER }
    case 'sendkey':
      return { style: sendKeyStyle({ prefix }), unknown: SENT }
    case 'devicekey':
      return { style: deviceKeyStyle({ prefix }), unknown: PUSHED }
  }
}
