// The imitated tools: their clients work unchanged once their address and key are ours.
// (Specification: Compatibility endpoints; docs/migrating.md)
//
//   topic.ts, topic-shape.ts            a text to a topic; topic-streams.ts: its subscribers
//   sendkey.ts                          title and desp to a key
//   devicekey.ts, devicekey-shape.ts    v1 in the path, v2 in the body
//   sending.ts, values-body.ts          what they share
//
// How their fields become those of a Message stands in src/schemas/compat.

import type { RootStyle, Style } from '#src/ingress/ingress'
import { deviceKeyStyle } from './devicekey.ts'
import { PUSHED } from './devicekey-shape.ts'
import { SENT, sendKeyStyle } from './sendkey.ts'
import { topicStyle } from './topic.ts'
import { TOPIC_ANSWER } from './topic-shape.ts'

export interface CompatibilityOptions {
  /** How long the feed keeps a message, in milliseconds. */
  readonly keptMs: number
}

/** Every style at its own prefix. */
export const compatibilityStyles = ({ keptMs }: CompatibilityOptions): readonly Style[] => [
  topicStyle({ prefix: '/compat-topic', keptMs }),
  sendKeyStyle({ prefix: '/compat-sendkey' }),
  deviceKeyStyle({ prefix: '/compat-devicekey' }),
]

/** One style without a prefix, and how it answers for a path that it does not know. */
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
