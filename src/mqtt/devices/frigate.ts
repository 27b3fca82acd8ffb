// Frigate: what a camera sees is an Event, from its first frame to its last.

import { isRecord } from '#domain/record'
import { invalid } from '#src/schemas/values'
import { entityIdOf } from './entity-name.ts'
import { level, nothing, object, scalar } from './family.ts'
import type { Row } from './family.ts'
import { timeOf } from './payload.ts'
import { attrs, event, oneAttr, become } from './wishes.ts'

const FRIGATE = 'frigate'
const ACTIONS = { new: 'create', update: 'update', end: 'close' } as const

const isKnown = (type: unknown): type is keyof typeof ACTIONS =>
  typeof type === 'string' && Object.hasOwn(ACTIONS, type)

const seen = object(({ type, after }, { receivedAtMs }) => {
  if (!isKnown(type)) return invalid('type', 'must be new, update or end')
  if (!isRecord(after)) return invalid('after', 'must be an object')
  const { id, camera, label, frame_time: frame, start_time: start, end_time: end } = after
  if (typeof id !== 'string' || id === '') return invalid('after.id', 'must be a text')
  if (typeof camera !== 'string' || camera === '') return invalid('after.camera', 'must be a text')
  const { score, top_score, current_zones, has_snapshot } = after
  const facts = { label, score, top_score, current_zones, has_snapshot }
  const action = ACTIONS[type]
  const ended = timeOf(end, receivedAtMs)
  return become(
    event(entityIdOf(id), action === 'close' ? ended : timeOf(frame, receivedAtMs), {
      action,
      thing_id: entityIdOf(camera),
      title: `${typeof label === 'string' ? label : 'object'} at ${camera}`,
      ...(action === 'create' && { started_at: timeOf(start, receivedAtMs) }),
      ...(action === 'close' && { ended_at: ended }),
      attrs: Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== undefined)),
    }),
  )
})

const available = scalar((online, { receivedAtMs }) =>
  typeof online === 'boolean'
    ? become(...attrs(FRIGATE, receivedAtMs, { online }))
    : invalid('payload', 'must be online or offline'),
)

/** What a camera counts, and its switches. */
const value = scalar((sent, received) => {
  const camera = entityIdOf(level(received, 'camera'))
  return become(...attrs(camera, received.receivedAtMs, oneAttr(level(received, 'name'), sent)))
})

export const FRIGATE_TOPICS: readonly Row[] = [
  { topic: 'frigate/events', read: seen },
  { topic: 'frigate/available', read: available },
  { topic: 'frigate/+kind', read: nothing },
  { topic: 'frigate/+camera/+name', read: value },
  { topic: 'frigate/+camera/+name/state', read: value },
  { topic: 'frigate/+camera/+name/snapshot', read: nothing },
]
