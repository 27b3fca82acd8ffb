// The bounds of topics and of filters.

export const TOPIC_BYTES_MAX = 512
const LEVEL_BYTES_MAX = 128
export const LEVELS_MAX = 16

/** The levels of a topic or a filter within the bounds; undefined beyond them. */
export function levelsOf(topic: string): readonly string[] | undefined {
  if (topic === '' || topic.length > TOPIC_BYTES_MAX || topic.includes('\0')) return undefined
  if (Buffer.byteLength(topic) > TOPIC_BYTES_MAX) return undefined
  const levels = topic.split('/')
  if (levels.length > LEVELS_MAX) return undefined
  return levels.every((level) => Buffer.byteLength(level) <= LEVEL_BYTES_MAX) ? levels : undefined
}

/** The levels of a topic that a publish may have: a filter is none. */
export const topicLevelsOf = (topic: string): readonly string[] | undefined =>
  /[+#]/.test(topic) ? undefined : levelsOf(topic)
