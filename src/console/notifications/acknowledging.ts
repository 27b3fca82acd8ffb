// Acknowledges Events from their notifications, also while no page is open: with the key of the
// device that got them.
//
// Invariants:
//   acknowledging/1. An acknowledgement is kept before it is sent, and until the gateway has
//     answered: WAITING_MAX at most, and none for longer than KEPT_MS. It may be sent twice: the
//     second one changes nothing.
//   acknowledging/2. Its time is that of the gateway's clock, of which an answer tells before it.

import { call } from '#src/client/call'
import { HeliographError } from '#src/client/error'
import { WEB } from '#src/client/runtime'
import { presentAt, settingPresent } from '#console/state/present.ts'
import { keptDevice, store } from './device.ts'

/** A person's press of a button of an Event. */
export interface Acknowledging {
  readonly channelId: string
  readonly eventId: string
  readonly title: string
  /** The tag of the notification. */
  readonly tag: string
  /** Unix milliseconds, by the clock of this computer. */
  readonly at: number
  /** A duration; '' for none. */
  readonly snooze: string
}

/** What became of one: done, waiting for the network, or refused in these words. */
export type Outcome =
  | { readonly kind: 'done' | 'waiting' }
  | { readonly kind: 'refused'; readonly text: string }

export type Tell = (wish: Acknowledging, outcome: Outcome) => Promise<void>

const WAITING = 'waiting'
const WAITING_MAX = 20
const KEPT_MS = 86_400_000
const TIMEOUT_MS = 15_000

/** The calls of this worker, one after the other. */
let line: Promise<unknown> = Promise.resolve()

function inLine<Result>(work: () => Promise<Result>): Promise<Result> {
  const next = line.then(work, work)
  line = next
  return next
}

const waitingOnes = async (): Promise<readonly Acknowledging[]> =>
  ((await store.get(WAITING)) ?? []) as readonly Acknowledging[] // written below

const isSame = (one: Acknowledging, other: Acknowledging): boolean =>
  one.tag === other.tag && one.at === other.at

/** Acknowledges an Event at once, or later where the gateway does not answer. */
export const acknowledge = (baseUrl: string, wish: Acknowledging, tell: Tell): Promise<void> =>
  inLine(async () => {
    const others = (await waitingOnes()).filter(({ tag }) => tag !== wish.tag)
    await store.put(WAITING, [...others, wish].slice(-WAITING_MAX)) // acknowledging/1
    await sendEach(baseUrl, [wish], tell)
  })

/** Sends what waits; says nothing of what goes on waiting. */
export const sendWaiting = (baseUrl: string, presentMs: number, tell: Tell): Promise<void> =>
  inLine(async () => {
    const kept = await waitingOnes()
    if (kept.length === 0) return
    const wanted = kept.filter(({ at }) => presentMs - at < KEPT_MS) // acknowledging/1
    await store.put(WAITING, wanted)
    await sendEach(baseUrl, wanted, async (wish, outcome) => {
      if (outcome.kind !== 'waiting') await tell(wish, outcome)
    })
  })

async function sendEach(
  baseUrl: string,
  wishes: readonly Acknowledging[],
  tell: Tell,
): Promise<void> {
  for (const wish of wishes) {
    const outcome = await send(baseUrl, wish)
    if (outcome.kind !== 'waiting') {
      const left = (await waitingOnes()).filter((other) => !isSame(other, wish))
      await store.put(WAITING, left)
    }
    await tell(wish, outcome)
    if (outcome.kind === 'waiting') return
  }
}

async function send(baseUrl: string, wish: Acknowledging): Promise<Outcome> {
  const { deviceKey, token, language, label } = await keptDevice()
  const { channelId, eventId, at, snooze } = wish
  const body = {
    channel_id: channelId,
    device_key: deviceKey,
    event_id: eventId,
    ...(label !== '' && { by: label }),
    ...(snooze !== '' && { snooze }),
  }
  const endpoint = {
    baseUrl,
    token: token === '' ? undefined : token,
    language,
    runtime: { ...WEB, fetch: settingPresent(WEB.fetch) },
    timeoutMs: TIMEOUT_MS,
  }
  const always = { repeats: 'always' } as const
  try {
    await call(endpoint, { method: 'GET', path: '/gateway/profile', ...always }) // acknowledging/2
    const timed = { ...body, event_time: presentAt(at) }
    await call(endpoint, { method: 'POST', path: '/event/acknowledge', body: timed, ...always })
    return { kind: 'done' }
  } catch (error) {
    if (!(error instanceof HeliographError) || error.retryable) return { kind: 'waiting' }
    return { kind: 'refused', text: error.sentence ?? error.message }
  }
}
