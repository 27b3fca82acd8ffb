// A device, its session and a feed, taking steps in any order; bounds are checked after every step.

import { ThingsView } from '#src/client/view'
import type { Announcement } from '#domain/feed'
import { parseDeviceId, parseDeviceKey } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import { encodeDeviceFrame } from '#src/schemas/frames'
import type { GatewayFrame } from '#src/schemas/frames'
import { readGatewayFrame } from '#src/schemas/read-frames'
import { frameOf, newsOf } from '#src/transports/channel-listeners'
import { Session } from '#src/transports/session'
import { WINDOW_BYTES_MAX, WINDOW_ENTRIES_MAX } from '#src/transports/signals'
import type { Input, Output } from '#src/transports/signals'
import { FeedModel } from '#test/support/feed-model'
import type { Step } from '#test/support/session-step'
import { channel } from '#test/support/session-words'

export const CHANNELS = [channel('A'), channel('B'), channel('C')] as const
const LATE = CHANNELS[2]
const DEVICE = checked(parseDeviceId('a'.repeat(64)))
const DEVICE_KEY = checked(parseDeviceKey('d'.repeat(32)))

/**
 * One device, its session and a feed in memory, with everything between them in the test's hands.
 */
export class SessionWorld {
  readonly model = new FeedModel()
  readonly view = new ThingsView()
  /** Messages that the device has seen, by channel, and gaps that it was told. */
  readonly #seen = new Map<ChannelId, Set<number>>()
  readonly #gaps: { readonly channelId: ChannelId; readonly from: number; readonly to: number }[] =
    []
  readonly #committed: { readonly channelId: ChannelId; readonly seq: number }[] = []
  readonly #announcements: Announcement[] = []
  #session: Session | undefined
  #nowMs = 1_000_000
  #wire: string[] = []
  #asked: Output[] = []
  #unacked = new Map<ChannelId, number>()
  readonly #lastSeq = new Map<ChannelId, number>()

  constructor() {
    for (const channelId of CHANNELS) this.model.channel(channelId)
    this.model.subscribe(DEVICE, CHANNELS[0])
    this.model.subscribe(DEVICE, CHANNELS[1])
  }

  take(step: Step): void {
    switch (step.kind) {
      case 'message':
        this.#message(at(step.at), step.bytes)
        break
      case 'burst':
        for (let count = 0; count < step.count; count += 1) this.#message(at(step.at), step.bytes)
        break
      case 'thing':
        this.#announcements.push(
          this.model.commitThing(at(step.at), `t${step.id}`, `k${step.id % 2}`, step.value),
        )
        break
      case 'delete': {
        const announcement = this.model.deleteThing(at(step.at), `t${step.id}`)
        if (announcement !== undefined) this.#announcements.push(announcement)
        break
      }
      case 'announce':
        for (let count = 0; count < step.count; count += 1) {
          this.#announce(at(step.at), step.how)
          this.#checkBounds()
        }
        break
      case 'answer':
        this.#answer(step.index, step.isPostponed)
        break
      case 'read':
        this.#read(step.count)
        break
      case 'acknowledge':
        this.#acknowledge()
        break
      case 'reconnect':
        this.#connect(step.withCursors)
        break
      case 'lose':
        this.#session = undefined
        break
      case 'forget':
        this.model.forget(
          at(step.at),
          Math.floor(this.model.channel(at(step.at)).headSeq * step.share),
        )
        break
      case 'subscribe':
        this.#subscribe(step.isOn)
        break
      case 'tick':
        this.#nowMs += 1_000
        this.#feed({ kind: 'tick' })
        break
    }
    this.#checkBounds()
  }

  /** Lets everything through until nothing moves any more. */
  settle(): void {
    this.#announcements.length = 0
    for (let round = 0; round < 400; round += 1) {
      if (this.#session?.phase !== 'serving') this.#connect(true)
      while (this.#asked.length > 0) this.#answer(0, false)
      this.#read(10_000)
      this.#acknowledge()
      this.#feed({ kind: 'positions', positions: this.model.positionsNow(DEVICE) })
      this.take({ kind: 'tick' })
      const isQuiet = this.#asked.length === 0 && this.#wire.length === 0
      if (isQuiet && this.#session?.behind === 0) return
    }
    throw new Error('the session does not come to rest')
  }

  #message(channelId: ChannelId, bytes: number): void {
    const announcement = this.model.commitMessage(channelId, { title: 'x'.repeat(bytes) })
    this.#announcements.push(announcement)
    for (const { seq } of announcement.entries) {
      const isMine = this.isSubscribed(channelId)
      if (isMine) this.#committed.push({ channelId, seq })
    }
  }

  /** Messages for the device that neither came nor were announced as missing. */
  missed(): readonly string[] {
    return this.#committed
      .filter(({ channelId, seq }) => !this.#seenOf(channelId).has(seq))
      .filter(({ channelId, seq }) => !this.#isInGap(channelId, seq))
      .map(({ channelId, seq }) => `${channelId} ${seq}`)
  }

  #isInGap(channelId: ChannelId, seq: number): boolean {
    return this.#gaps.some((gap) => gap.channelId === channelId && gap.from <= seq && seq <= gap.to)
  }

  isSubscribed(channelId: ChannelId): boolean {
    return this.model.positionsNow(DEVICE).some((position) => position.channelId === channelId)
  }

  /** The oldest announcement of a channel: order holds per channel, not between channels. */
  #announce(channelId: ChannelId, how: 'pass' | 'lose' | 'repeat'): void {
    const index = this.#announcements.findIndex((each) => each.channelId === channelId)
    const [announcement] = index < 0 ? [] : this.#announcements.splice(index, 1)
    if (announcement === undefined || how === 'lose') return
    const input: Input = { kind: 'announced', ...newsOf(announcement) }
    this.#feed(input)
    if (how === 'repeat') this.#feed(input)
  }

  #answer(index: number, isPostponed: boolean): void {
    const [asked] = this.#asked.splice(index % Math.max(1, this.#asked.length), 1)
    if (asked === undefined) return
    if (asked.kind === 'admit') {
      const positions = this.model.positionsNow(DEVICE)
      this.#feed({ kind: 'admitted', sessionId: 's', serverTime: 1, positions })
    } else if (asked.kind === 'read-positions') {
      this.#feed({ kind: 'positions', positions: this.model.positionsNow(DEVICE) })
    } else if (asked.kind === 'read-pages') {
      const { ticket } = asked
      if (isPostponed) this.#feed({ kind: 'postponed', ticket })
      else {
        // Now and then the store has no room for the last ones.
        const reached = asked.requests.slice(0, 1 + (index % asked.requests.length))
        const pages = reached.map((request) => {
          const { entries, ...rest } = this.model.catchUpNow(request)
          return { ...rest, frames: entries.map((entry) => frameOf(entry, 'replay')) }
        })
        this.#feed({ kind: 'pages', ticket, pages })
      }
    }
  }

  #connect(withCursors: boolean): void {
    this.#session = new Session(this.#nowMs, 0)
    this.#wire = []
    this.#asked = []
    this.#unacked = new Map()
    this.#lastSeq.clear()
    const cursors = withCursors ? this.view.cursors() : new Map<ChannelId, number>()
    const text = encodeDeviceFrame({
      kind: 'hello',
      deviceKey: DEVICE_KEY,
      gatewayToken: undefined,
      cursors,
      client: undefined,
    })
    this.#feed({ kind: 'received', text })
  }

  #subscribe(isOn: boolean): void {
    if (isOn === this.isSubscribed(LATE)) return
    if (!isOn) {
      this.model.unsubscribe(DEVICE, LATE)
      for (let index = this.#committed.length - 1; index >= 0; index -= 1) {
        if (this.#committed[index]?.channelId === LATE) this.#committed.splice(index, 1)
      }
      this.#feed({ kind: 'unsubscribed', channelId: LATE, reason: 'unsubscribed' })
      return
    }
    this.model.subscribe(DEVICE, LATE)
    const position = this.model.positionsNow(DEVICE).find(({ channelId }) => channelId === LATE)
    if (position !== undefined) this.#feed({ kind: 'subscribed', position })
  }

  #feed(input: Input): void {
    if (this.#session === undefined) return
    for (const output of this.#session.handle(input, this.#nowMs)) {
      if (output.kind === 'send') this.#wire.push(output.text)
      else if (output.kind === 'deliver') this.#wire.push(output.frame.text)
      else if (output.kind === 'close') this.#session = undefined
      else if (output.kind === 'acknowledge') {
        void this.model.acknowledge([{ ...output, deviceId: DEVICE }])
      } else this.#asked.push(output)
    }
  }

  /** The device takes frames off the wire; the carrier tells what is left. */
  #read(count: number): void {
    for (const text of this.#wire.splice(0, count)) {
      const frame = readGatewayFrame(text)
      if (frame === undefined) throw new Error(`no frame: ${text}`)
      this.#took(frame)
    }
    const bytes = this.#wire.reduce((sum, text) => sum + text.length, 0)
    this.#feed({ kind: 'buffered', bytes })
  }

  #took(frame: GatewayFrame): void {
    if (frame.kind === 'goaway') this.#session = undefined
    if (frame.kind === 'ping') this.#feed({ kind: 'received', text: '{"type":"pong"}' })
    if (frame.kind === 'gap') {
      this.#gaps.push(frame)
      if (frame.restart) this.#lastSeq.delete(frame.channelId)
    }
    if (frame.kind === 'unsubscribed' || frame.kind === 'subscribed') {
      this.#lastSeq.delete(frame.channelId)
      if (frame.kind === 'unsubscribed') this.#unacked.delete(frame.channelId)
    }
    if (frame.kind === 'deliver') {
      const { channelId, seq } = frame
      if (seq <= (this.#lastSeq.get(channelId) ?? 0))
        throw new Error(`serving/1: ${seq} came again`)
      this.#lastSeq.set(channelId, seq)
    }
    const isNew = this.view.apply(frame)
    if (isNew && frame.kind === 'deliver' && frame.model === 'message') {
      const seen = this.#seenOf(frame.channelId)
      if (seen.has(frame.seq)) throw new Error(`operations/1: message ${frame.seq} came twice`)
      seen.add(frame.seq)
    }
    if (frame.kind === 'deliver' || frame.kind === 'caught-up') {
      this.#unacked.set(frame.channelId, frame.seq)
    }
  }

  #seenOf(channelId: ChannelId): Set<number> {
    const seen = this.#seen.get(channelId) ?? new Set()
    this.#seen.set(channelId, seen)
    return seen
  }

  #acknowledge(): void {
    for (const [channelId, seq] of this.#unacked) {
      this.#feed({ kind: 'received', text: encodeDeviceFrame({ kind: 'ack', channelId, seq }) })
    }
    this.#unacked.clear()
  }

  #checkBounds(): void {
    const { entries, bytes } = this.#session?.unacknowledged ?? { entries: 0, bytes: 0 }
    const isWithin = entries <= WINDOW_ENTRIES_MAX && bytes <= WINDOW_BYTES_MAX
    if (!isWithin || entries < 0 || bytes < 0)
      throw new Error(`session-window/1: ${entries} and ${bytes}`)
  }
}

function at(index: number): ChannelId {
  return CHANNELS[index % CHANNELS.length] ?? CHANNELS[0]
}

function checked<Id>(id: Id | undefined): Id {
  if (id === undefined) throw new Error('bad id')
  return id
}
