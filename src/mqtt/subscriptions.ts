// The subscriptions of one client, and which of them a topic matches.
//
// Invariants:
//   mqtt-subscriptions/1. A client has at most SUBSCRIPTIONS_MAX of them.
//   mqtt-subscriptions/2. A key follows what its rights are for and nothing else.
//   mqtt-subscriptions/3. A filter of the gateway's own topics that none of them can match is
//                         refused, and one that begins with $: nothing would ever come.

import type { OpenChannel } from '#src/acceptance/channel-access'
import { followRefusal } from '#src/acceptance/key-rights'
import { SUBSCRIPTIONS_MAX } from './bounds.ts'
import type { SubscribePacket } from './codec.ts'
import { REASON } from './reasons.ts'
import { levelsOf } from './devices/topic.ts'

type Sent = SubscribePacket['subscriptions'][number]

/** A subscription of a kept session, as the client sent it. */
export interface StoredSubscription extends Pick<Sent, 'topic'> {
  readonly qos: 0 | 1
  readonly nl: boolean
  readonly identifier?: number
}

interface Subscription {
  readonly levels: readonly string[]
  readonly qos: 0 | 1
  readonly identifier: number | undefined
  /** True when the client does not want its own publishes. */
  readonly isNoLocal: boolean
}

/** The subscriptions that a topic matches, as one. */
export interface Match {
  readonly qos: 0 | 1
  readonly identifiers: readonly number[]
}

export interface Granted {
  readonly code: number
  /** The filter whose present state is to be sent. */
  readonly retained: readonly string[] | undefined
}

const refused = (code: number): Granted => ({ code, retained: undefined })

export class Subscriptions {
  readonly #all = new Map<string, Subscription>()
  readonly #open: OpenChannel

  /** `kept`: those of earlier connections, of which the present credentials may allow fewer. */
  constructor(open: OpenChannel, kept: readonly StoredSubscription[] = []) {
    this.#open = open
    for (const { topic, qos, nl, identifier } of kept) this.add({ topic, qos, nl }, identifier)
  }

  /** For the store of kept sessions. */
  get stored(): readonly StoredSubscription[] {
    return [...this.#all].map(([topic, { qos, identifier, isNoLocal: nl }]) => ({
      topic,
      qos,
      nl,
      ...(identifier !== undefined && { identifier }),
    }))
  }

  clear(): void {
    this.#all.clear()
  }

  get size(): number {
    return this.#all.size
  }

  /** True when a topic of single attrs may match. */
  get wantsAttrs(): boolean {
    return [...this.#all.values()].some(({ levels }) => levels.length > 2 || levels.includes('#'))
  }

  /** Takes one filter of a SUBSCRIBE; returns its code of MQTT 5. */
  add({ topic, qos, nl, rh = 0 }: Sent, identifier: number | undefined): Granted {
    if (topic.startsWith('$share/')) return refused(REASON.sharedSubscriptionsNotSupported)
    const levels = filterLevelsOf(topic)
    if (levels === undefined || !mayMatch(levels)) return refused(REASON.topicFilterInvalid)
    if (this.#refusalOf(levels)) return refused(REASON.notAuthorized)
    const isNew = !this.#all.has(topic)
    if (isNew && this.#all.size >= SUBSCRIPTIONS_MAX) return refused(REASON.quotaExceeded)
    const granted = qos === 0 ? 0 : 1
    this.#all.set(topic, { levels, qos: granted, identifier, isNoLocal: nl === true })
    return { code: granted, retained: rh === 0 || (rh === 1 && isNew) ? levels : undefined }
  }

  /** Returns the code of MQTT 5. */
  remove(topic: string): number {
    return this.#all.delete(topic) ? REASON.success : REASON.noSubscriptionExisted
  }

  /** The subscriptions that a topic matches; undefined for none. */
  match(topic: string, isOwn: boolean): Match | undefined {
    const levels = topic.split('/')
    let found: { qos: 0 | 1; identifiers: number[] } | undefined
    for (const { levels: filter, qos, identifier, isNoLocal } of this.#all.values()) {
      if ((isOwn && isNoLocal) || !matches(filter, levels)) continue
      found ??= { qos, identifiers: [] }
      if (qos === 1) found.qos = 1
      if (identifier !== undefined) found.identifiers.push(identifier)
    }
    return found
  }

  /** mqtt-subscriptions/2 */
  #refusalOf([model, id = '']: readonly string[]): boolean {
    const { key } = this.#open
    if (key === undefined) return false
    const thingId = model === 'things' && !/[+#]/.test(id) ? id : undefined
    return followRefusal(key, thingId) !== undefined
  }
}

/** The forms of topics of the gateway's own. */
const OWN = ['messages', 'events/+', 'things/+', 'things/+/attrs/+'].map((form) => form.split('/'))

/** mqtt-subscriptions/3: topics of others are those of devices, which ask for them by habit. */
function mayMatch(filter: readonly string[]): boolean {
  const [first = ''] = filter
  const isOwn = OWN.some(([folder]) => folder === first)
  return isOwn ? OWN.some((form) => meet(filter, form)) : !first.startsWith('$')
}

/** True when some topic of the form matches the filter. */
function meet(filter: readonly string[], form: readonly string[]): boolean {
  if (filter.at(-1) === '#') return filter.length <= form.length + 1 && meetAt(filter, form)
  return filter.length === form.length && meetAt(filter, form)
}

const meetAt = (filter: readonly string[], form: readonly string[]): boolean =>
  filter.every((level, at) => /^[+#]$/.test(level) || form[at] === '+' || form[at] === level)

/** The levels of a filter; undefined when its form is wrong. */
export function filterLevelsOf(filter: string): readonly string[] | undefined {
  const levels = levelsOf(filter)
  const isGood = levels?.every(
    (level, at) =>
      level === '+' || (level === '#' ? at === levels.length - 1 : !/[+#]/.test(level)),
  )
  return isGood === true ? levels : undefined
}

/** True when a filter takes a topic. */
export function matches(filter: readonly string[], topic: readonly string[]): boolean {
  for (const [at, level] of filter.entries()) {
    if (level === '#') return true
    if (at >= topic.length || (level !== '+' && level !== topic[at])) return false
  }
  return filter.length === topic.length
}
