// The imitated tools: their clients work unchanged once their address and key are ours.
// (Specification: Compatibility endpoints; docs/migrating.md)
//
//   topic/       a text to a topic, and its subscribers
//   sendkey/     title and desp to a key
//   devicekey/   v1 in the path, v2 in the body
//   thingsboard/ telemetry and attributes of a device
//   hooks/       what monitoring tools call

import type { RootStyle, Style } from '#src/ingress/ingress'
import { deviceKeyStyle } from './devicekey/style.ts'
import { PUSHED } from './devicekey/answers.ts'
import { hookStyle } from './hooks/style.ts'
import { SENT, sendKeyStyle } from './sendkey/style.ts'
import { thingsBoardStyle } from './thingsboard/style.ts'
import { topicStyle } from './topic/style.ts'
import { TOPIC_ANSWER } from './topic/answers.ts'

export interface CompatibilityOptions {
  /** Milliseconds for which the feed keeps a message. */
  readonly keptMs: number
  /** True where a gateway token is set. */
  readonly hasToken?: boolean
}

/** All styles, each at its own prefix or paths. */
export const compatibilityStyles = ({
  keptMs,
  hasToken = false,
}: CompatibilityOptions): readonly Style[] => [
  topicStyle({ prefix: '/compat-topic', keptMs }),
  sendKeyStyle({ prefix: '/compat-sendkey' }),
  deviceKeyStyle({ prefix: '/compat-devicekey' }),
  thingsBoardStyle,
  hookStyle({ keysOnly: hasToken }),
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
