// The deliveries of one session: decides which entries of which channel go out now. Pure: no clock,
// no I/O.
//
// Invariants:
//   serving/1. Per channel, seq grows from one delivery to the next, except behind a gap with
//     `restart`.
//   serving/2. An announced entry is forwarded only when its seq is the next one. Older ones are
//     dropped; a hole, an unannounced head and a shut window all lead to one mechanism: the channel
//     is behind, and the feed is read from the last sent entry on.
//   serving/3. For a channel that is behind only numbers are kept: announcements only raise
//     `announcedSeq`, and the channel is live again when a page has reached it.
//   serving/4. Only sent entries can be acknowledged.
//   serving/5. Behind a restart Things come again, Messages and Events do not.
//
// backlog.ts reads the channels that are behind.

import { fault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Position } from '#domain/feed'
import type { ChannelId } from '#domain/identity'
import { WELCOME_CHANNELS_MAX } from '#src/schemas/frames'
import type { SubscribedChannel, UnsubscribedReason } from '#src/schemas/frames'
import { Backlog } from './backlog.ts'
import { noticeOutput } from './inbound.ts'
import { progressFrom, settle } from './progress.ts'
import type { Progress } from './progress.ts'
import type { Frame, FramePage, News, Output } from './signals.ts'
import { Window } from './window.ts'

type Ended = 'goes-on' | 'resync'

export class Serving {
  readonly #window = new Window()
  readonly #channels = new Map<ChannelId, Progress>()
  /** Undefined while every channel is live, as most are. */
  #backlog: Backlog | undefined

  /** The number of channels that are not live. */
  get behind(): number {
    return this.#backlog?.size ?? 0
  }

  /** True while a channel waits for a tick. */
  get isPostponed(): boolean {
    return this.#backlog?.isPostponed === true
  }

  get unacknowledged(): { readonly entries: number; readonly bytes: number } {
    return this.#window.unacknowledged
  }

  /**
   * Takes the channels of a new session, with the cursors of the hello; gives the channels that the
   * welcome lists. `outputs` names the others, behind the welcome.
   */
  begin(
    positions: readonly Position[],
    cursors: ReadonlyMap<ChannelId, number>,
    outputs: Output[],
  ): readonly SubscribedChannel[] {
    const listed: SubscribedChannel[] = []
    for (const position of positions) {
      const told = listed.length < WELCOME_CHANNELS_MAX ? listed : undefined
      this.#add(position, cursors.get(position.channelId) ?? position.ackedSeq, { outputs, told })
    }
    this.#read(outputs)
    return listed
  }

  /** Takes a subscription that was made, or made anew, while connected. */
  subscribe(position: Position, outputs: Output[]): void {
    this.#stand(position, outputs)
    this.#read(outputs)
  }

  #stand(position: Position, outputs: Output[]): void {
    const progress = this.#channels.get(position.channelId)
    if (progress !== undefined && progress.sinceSeq === position.sinceSeq) {
      this.#hear(progress, position.headSeq)
    } else {
      this.#forget(position.channelId)
      // A device that was not told of the end in between goes on from its position.
      const stoodAt = Math.min(progress?.ackedSeq ?? 0, position.headSeq)
      const cursor = Math.max(position.ackedSeq, stoodAt)
      this.#add(position, cursor, { outputs, told: undefined })
    }
  }

  unsubscribe(channelId: ChannelId, reason: UnsubscribedReason, outputs: Output[]): void {
    if (!this.#forget(channelId)) return
    outputs.push(noticeOutput({ kind: 'unsubscribed', channelId, reason }))
    this.#read(outputs)
  }

  /** Takes announced entries of a channel. (serving/2, serving/3) */
  announced({ channelId, frames, headSeq }: News, outputs: Output[]): void {
    const progress = this.#channels.get(channelId)
    if (progress === undefined) return
    for (const frame of frames) {
      if (progress.stage !== 'live') break
      if (frame.seq <= progress.sentSeq) continue
      if (frame.seq !== progress.sentSeq + 1) break // serving/2
      if (!this.#deliver(progress, frame, outputs)) break
    }
    this.#hear(progress, headSeq)
    this.#read(outputs)
  }

  /**
   * Takes the heads that the store has; a channel that began during the admission is served from
   * here on.
   */
  heads(positions: readonly Position[], outputs: Output[]): void {
    for (const position of positions) this.#stand(position, outputs)
    this.#read(outputs)
  }

  /**
   * Takes a page. `resync`: the channel begins anew while entries are unacknowledged; only a new
   * session can tell old and new acknowledgements apart.
   */
  pages(ticket: number, pages: readonly FramePage[], outputs: Output[]): Ended {
    for (const [at, progress] of this.#backlog?.arrived(ticket).entries() ?? []) {
      const page = pages[at]
      if (!this.#isCurrent(progress)) continue
      if (page !== undefined) {
        if (this.#take(progress, page, outputs) === 'resync') return 'resync'
      } else if (pages.length > 0) this.#fallBehind(progress)
      else this.#postpone(progress) // backlog/2
    }
    this.#read(outputs)
    return 'goes-on'
  }

  /** Another read would be postponed as well, and so on to the last channel: a tick asks again. */
  postponed(ticket: number): void {
    for (const progress of this.#backlog?.arrived(ticket) ?? []) {
      if (this.#isCurrent(progress)) this.#postpone(progress)
    }
  }

  /**
   * Gives a fault for an unknown channel or a seq beyond the sent ones, and `stale` for one without
   * news.
   */
  acknowledge(channelId: ChannelId, seq: number, outputs: Output[]): Fault | 'moved' | 'stale' {
    const progress = this.#channels.get(channelId)
    if (progress === undefined) return fault('channel_not_found', { field: 'channel_id' })
    // serving/4
    if (seq > progress.sentSeq) {
      return fault('validation_failed', { field: 'seq', detail: 'seq is beyond what was sent' })
    }
    if (seq <= progress.ackedSeq) return 'stale'
    progress.ackedSeq = seq
    const { entries, bytes } = settle(progress, seq)
    this.#window.release(entries, bytes)
    outputs.push({ kind: 'acknowledge', channelId, seq })
    this.#read(outputs)
    return 'moved'
  }

  /** Allows postponed channels to be read again. */
  tick(outputs: Output[]): void {
    this.#backlog?.tick()
    this.#read(outputs)
  }

  /** Takes the number of bytes that the carrier holds. */
  bufferedBytes(bytes: number, outputs: Output[]): void {
    this.#window.buffer(bytes)
    this.#read(outputs)
  }

  #add(
    position: Position,
    cursor: number,
    {
      outputs,
      told,
    }: { readonly outputs: Output[]; readonly told: SubscribedChannel[] | undefined },
  ): void {
    const { channelId, channelName, headSeq } = position
    // A cursor ahead of the feed knows entries that the gateway has lost: the device begins anew.
    const isAhead = cursor > headSeq
    const progress = progressFrom(position, isAhead ? 0 : cursor)
    const channel = { channelId, channelName, headSeq, cursor: progress.sentSeq }
    if (told === undefined) outputs.push(noticeOutput({ kind: 'subscribed', ...channel }))
    else told.push(channel)
    if (isAhead) {
      const gap = { from: headSeq + 1, to: cursor, reason: 'reset', restart: true } as const
      outputs.push(noticeOutput({ kind: 'gap', channelId, ...gap }))
    }
    this.#channels.set(channelId, progress)
    if (progress.ackedSeq > position.ackedSeq) {
      outputs.push({ kind: 'acknowledge', channelId, seq: progress.ackedSeq })
    }
    if (progress.stage === 'live') outputs.push(caughtUp(progress))
    else this.#fallBehind(progress)
  }

  #forget(channelId: ChannelId): boolean {
    const progress = this.#channels.get(channelId)
    if (progress === undefined) return false
    this.#channels.delete(channelId)
    this.#backlog?.remove(progress)
    const { entries, bytes } = settle(progress, Infinity)
    this.#window.release(entries, bytes)
    return true
  }

  /** serving/2: a live channel that has not sent an existing seq is behind. */
  #hear(progress: Progress, seq: number): void {
    progress.announcedSeq = Math.max(progress.announcedSeq, seq)
    if (progress.stage === 'live' && progress.announcedSeq > progress.sentSeq) {
      this.#fallBehind(progress)
    }
  }

  #deliver(progress: Progress, frame: Frame, outputs: Output[]): boolean {
    if (!this.#window.take(frame.bytes)) return false
    progress.sentSeq = frame.seq // serving/1
    progress.owed.push({ seq: frame.seq, bytes: frame.bytes })
    outputs.push({ kind: 'deliver', frame })
    return true
  }

  #fallBehind(progress: Progress): void {
    this.#backlog ??= new Backlog(this.#window)
    this.#backlog.add(progress)
  }

  #postpone(progress: Progress): void {
    this.#backlog ??= new Backlog(this.#window)
    this.#backlog.postpone(progress)
  }

  #read(outputs: Output[]): void {
    this.#backlog?.read(outputs)
    if (this.#backlog?.size === 0) this.#backlog = undefined
  }

  /** False when the channel was left or subscribed anew while its page was read. */
  #isCurrent(progress: Progress): boolean {
    return this.#channels.get(progress.channelId) === progress
  }

  #take(progress: Progress, page: FramePage, outputs: Output[]): Ended {
    const { channelId } = progress
    const before = progress.sentSeq
    if (page.gap !== undefined) {
      if (page.gap.restart && progress.owed.length > 0) return 'resync'
      const known = Math.min(before, page.headSeq)
      // A feed that ends before the last sent entry has lost entries: retention takes none from its
      // end.
      const reason = known < before ? 'reset' : 'retention'
      outputs.push(noticeOutput({ kind: 'gap', channelId, ...page.gap, reason }))
      if (page.gap.restart) {
        progress.sentSeq = 0
        progress.ackedSeq = 0
        progress.hasReachedHead = false
        progress.entriesSince = Math.max(progress.entriesSince, known) // serving/5
        progress.deletedSince = progress.entriesSince
      }
    }
    progress.removedTo = page.removedTo
    progress.announcedSeq = Math.max(progress.announcedSeq, page.headSeq)
    for (const frame of page.frames) {
      if (frame.seq <= progress.sentSeq) continue // serving/1
      if (this.#deliver(progress, frame, outputs)) continue
      this.#fallBehind(progress)
      return 'goes-on'
    }
    if (page.complete) {
      progress.sentSeq = Math.max(progress.sentSeq, page.headSeq)
      progress.hasReachedHead = true
    }
    const isDone = page.complete && progress.announcedSeq <= progress.sentSeq
    if (isDone) this.#goLive(progress, outputs)
    else if (progress.sentSeq === before)
      this.#postpone(progress) // backlog/2
    else this.#fallBehind(progress)
    return 'goes-on'
  }

  #goLive(progress: Progress, outputs: Output[]): void {
    progress.stage = 'live'
    outputs.push(caughtUp(progress))
  }
}

const caughtUp = ({ channelId, sentSeq }: Progress): Output =>
  noticeOutput({ kind: 'caught-up', channelId, seq: sentSeq })
