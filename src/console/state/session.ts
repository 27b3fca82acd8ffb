// The one session of the page: it carries every channel of this browser. A worker has it.
//
//   register ─▶ subscribe ─▶ session ── lost ─▶ the SDK connects again, and says when
//                               └── the device is unknown ─▶ register anew

import { effect, signal } from '@preact/signals'

import { SessionLink } from '#console/session/link.ts'
import type { Happening, Secrets, SessionEnd, SessionState } from '#console/session/messages.ts'
import { browserName } from '#console/people/browser-name.ts'
import { afterDelay, nextFrame, nowMs } from './clock.ts'
import { deviceIn, keepDevice, takeSlot } from './device-slot.ts'
import { BASE_URL, client, codeOf, wantsToken } from './gateway.ts'
import { loadChannel, readerOf } from './history.ts'
import { LiveChannel } from './live-channel.ts'
import { channels, keepChannel, token } from './saved.ts'
import type { SavedChannel } from './saved.ts'
import { readSnapshot, writeSnapshot } from './snapshots.ts'
import { startSessionWorker } from './worker.ts'

export type Connection =
  | { readonly kind: 'idle' | 'connecting' | 'open' | 'replaced' | 'token' }
  /** `untilMs`: when the next attempt begins. */
  | { readonly kind: 'waiting'; readonly untilMs: number }

export const connection = signal<Connection>({ kind: 'idle' })
/** By id the channels of this browser that the page shows. */
export const live = signal<ReadonlyMap<string, LiveChannel>>(new Map())

/** When the session was last known to be open. */
const openUntilMs = signal<number | undefined>(undefined)

/**
 * The time of which the page knows a channel, in Unix milliseconds; undefined while it follows the
 * channel live. NaN for a channel of which it knows nothing yet.
 */
export function knownAt(channel: LiveChannel): number | undefined {
  if (connection.value.kind === 'open' && channel.isCurrent.value) return undefined
  return channel.savedAt.value ?? openUntilMs.value ?? Number.NaN
}

const SAVE_EVERY_MS = 3_000
/** The pause after saving is so many times what it took: a large channel is saved less often. */
const SAVING_PAUSE = 50
const SAVE_WITHIN_MS = 15_000
const RETRY_MS = 5_000

let link: SessionLink | undefined
let slot: Promise<number> | undefined
let isStarting = false
/** Channels are kept that the running start may not have seen. */
let isWanted = false
const unsaved = new Set<LiveChannel>()

/** Keeps the session open while this browser has channels. Called once. */
export function keepSession(): void {
  effect(() => {
    const saved = channels.value
    void token.value
    showChannels(saved)
    link?.keepSecrets(secretsOf(saved))
    if (saved.length > 0) void start()
  })
  addEventListener('online', wake)
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') wake()
    else void save(live.peek().values())
  })
  saveAfter(SAVE_EVERY_MS)
}

/** Saves what has changed after a delay, and so on. */
function saveAfter(delayMs: number): void {
  afterDelay(delayMs, () => {
    const beganMs = nowMs()
    const changed = [...unsaved]
    unsaved.clear()
    void save(changed).finally(() => {
      const pauseMs = Math.min(SAVE_WITHIN_MS, (nowMs() - beganMs) * SAVING_PAUSE)
      saveAfter(Math.max(SAVE_EVERY_MS, pauseMs))
    })
  })
}

/** Connects at once, for a person who does not want to wait. */
export function wake(): void {
  if (link !== undefined) link.wake()
  else if (connection.peek().kind === 'waiting') void start()
}

/** Takes the session back from another tab, or begins with another token. */
export async function restart(): Promise<void> {
  const before = link
  link = undefined
  lost()
  await before?.close()
  await start()
}

function showChannels(saved: readonly SavedChannel[]): void {
  const known = live.peek()
  live.value = new Map(saved.map(({ id, name }) => [id, known.get(id) ?? newChannel(id, name)]))
}

function newChannel(id: string, name: string): LiveChannel {
  const channel = new LiveChannel(id, name)
  void readSnapshot(id).then((snapshot) => snapshot !== undefined && channel.restore(snapshot))
  return channel
}

async function start(): Promise<void> {
  isWanted = true
  if (isStarting) return
  isStarting = true
  try {
    while (isWanted) {
      isWanted = false // Another channel may be kept meanwhile.
      const [number, deviceKey] = await device()
      await subscribeAll(number, deviceKey)
      if (link === undefined) open(number, deviceKey)
    }
  } catch (error) {
    if (wantsToken(error)) connection.value = { kind: 'token' }
    else retry()
  } finally {
    isStarting = false
  }
}

function retry(): void {
  connection.value = { kind: 'waiting', untilMs: nowMs() + RETRY_MS }
  afterDelay(RETRY_MS, () => void start())
}

async function device(): Promise<readonly [slot: number, deviceKey: string]> {
  const number = await (slot ??= takeSlot())
  const known = deviceIn(number)?.deviceKey
  if (known !== undefined && known !== '') return [number, known]
  connection.value = { kind: 'connecting' }
  const wish = { platform: 'web', label: browserName() } as const
  const { device_key: deviceKey } = await client.peek().device.register(wish)
  keepDevice(number, { deviceKey, channels: [] })
  return [number, deviceKey]
}

/** Subscribes the device to each channel, once; the session brings the rest. */
async function subscribeAll(number: number, deviceKey: string): Promise<void> {
  for (const { id, secret } of channels.peek()) {
    const known = deviceIn(number)?.channels ?? []
    if (known.includes(id)) continue
    try {
      const body = { device_key: deviceKey, channel_id: id, password: secret }
      await client.peek().channel.subscribe(body)
      keepDevice(number, { deviceKey, channels: [...known, id] })
    } catch (error) {
      if (codeOf(error) === 'device_key_not_found') {
        keepDevice(number, undefined)
        throw error
      }
      if (codeOf(error) === undefined || wantsToken(error)) throw error
      // A key that only sends, a channel that is gone or full: the other ones go on.
      const channel = live.peek().get(id)
      if (channel !== undefined) channel.isLost.value = true
    }
  }
}

const secretsOf = (saved: readonly SavedChannel[]): Secrets =>
  new Map(saved.map(({ id, secret }) => [id, secret]))

function open(number: number, deviceKey: string): void {
  const opened = new SessionLink(startSessionWorker(), {
    device: { baseUrl: BASE_URL, deviceKey, token: token.peek() === '' ? undefined : token.peek() },
    secrets: secretsOf(channels.peek()),
    nextFrame,
    onState: follow,
    onThings: (channelId, changes) => {
      const channel = channelOf(channelId)
      if (channel === undefined) return
      channel.changed(changes, opened.things(channelId))
      unsaved.add(channel)
    },
    onHappening: (happening) => happened(happening, opened, number),
  })
  link = opened
  void opened.ended.then((end) => ended(opened, number, end))
}

function happened(happening: Happening, opened: SessionLink, number: number): void {
  const channelId = happening.kind === 'entry' ? happening.delivery.channelId : happening.channelId
  const channel = channelOf(channelId)
  if (happening.kind === 'unsubscribed') {
    const { channels: known = [], deviceKey = '' } = deviceIn(number) ?? {}
    keepDevice(number, { deviceKey, channels: known.filter((id) => id !== channelId) })
    if (channel !== undefined) channel.isLost.value = true
  }
  if (channel === undefined) return
  if (happening.kind === 'entry') {
    channel.delivered(happening.delivery)
    unsaved.add(channel)
  } else if (happening.kind === 'channel') {
    channel.name.value = happening.channelName
    const saved = channels.peek().find(({ id }) => id === channelId)
    if (saved !== undefined && saved.name !== happening.channelName) {
      keepChannel({ ...saved, name: happening.channelName })
    }
    channel.isLost.value = false
    void loadChannel(channel).then(
      () => unsaved.add(channel),
      // Otherwise the session comes back and reads again; what is shown says how old it is.
      (error: unknown) => (isRefusal(codeOf(error)) ? leaveRefused() : undefined),
    )
  } else if (happening.kind === 'caught-up' && !channel.isCurrent.peek()) {
    channel.reached(opened.things(channelId))
  }
}

const channelOf = (id: string): LiveChannel | undefined => live.peek().get(id)

function follow(state: SessionState): void {
  if (connection.peek().kind === 'open') openUntilMs.value = nowMs()
  connection.value =
    state.kind === 'waiting' ? { kind: 'waiting', untilMs: nowMs() + state.delayMs } : state
  if (state.kind === 'waiting' && isRefusal(state.code)) void leaveRefused()
}

const isRefusal = (code: string | undefined): boolean =>
  code === 'channel_not_found' || code === 'key_expired' || code === 'key_scope'

/** Leaves the channels that their secrets do not open any more: the session goes on with others. */
async function leaveRefused(): Promise<void> {
  for (const channel of live.peek().values()) {
    try {
      await client.peek().channel.info(readerOf(channel.id))
    } catch (error) {
      if (!isRefusal(codeOf(error))) continue
      channel.isLost.value = true
      await leave(channel.id)
    }
  }
}

function ended(over: SessionLink, number: number, { kind, code }: SessionEnd): void {
  if (over !== link) return
  if (connection.peek().kind === 'open') openUntilMs.value = nowMs()
  link = undefined
  lost()
  if (kind === 'replaced') connection.value = { kind: 'replaced' }
  else if (kind === 'refused' && code === 'authentication_failed') {
    connection.value = { kind: 'token' }
  } else {
    if (kind === 'refused') keepDevice(number, undefined)
    retry()
  }
}

/** Channels stay on the page as they are, until the next session has brought them up to date. */
function lost(): void {
  for (const channel of live.peek().values()) channel.isCurrent.value = false
}

/** Saves channels for a page without a network. */
async function save(changed: Iterable<LiveChannel>): Promise<void> {
  for (const channel of changed) {
    if (channel.isCurrent.peek()) await writeSnapshot(channel.id, channel.snapshot(nowMs()))
  }
}

/** Ends the subscription of this browser to a channel, as far as the gateway can be reached. */
export async function leave(channelId: string): Promise<void> {
  void writeSnapshot(channelId, undefined)
  const number = await (slot ??= takeSlot())
  const known = deviceIn(number)
  if (known === undefined || known.deviceKey === '') return
  const { deviceKey, channels: ids } = known
  keepDevice(number, { deviceKey, channels: ids.filter((id) => id !== channelId) })
  const body = { device_key: deviceKey, channel_id: channelId }
  await client
    .peek()
    .channel.unsubscribe(body)
    .catch(() => undefined)
}
