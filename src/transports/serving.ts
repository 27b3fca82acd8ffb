// Decides which entries of which channel a session delivers now, without clock or I/O.
//
// Invariants:
//   serving/1. Per channel, seq grows from one delivery to the next, except after a gap with
//     `restart`.
//   serving/2. The session forwards an announced entry only when its seq is the next one, and drops
//     older ones. A hole, an unannounced head and a shut window all lead to one mechanism: the
//     channel is behind, and the session reads the feed from the last sent entry on.
//   serving/3. For a channel that is behind the session keeps numbers only: announcements only
//     raise `announcedSeq`, and the channel is live again when a page has reached it.
//   serving/4. A device can acknowledge only entries that were sent to it.
//   serving/5. After a restart Things come again, Messages and Events do not.
//   serving/6. A session that took a part of a page of the feed has each Thing only up to its last
//     change, which may lie behind that part. It reads the feed until it has reached the head, and
//     takes no single entries before: an update alone would leave earlier ones out.
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
import { answersCaughtUp, caughtUp, progressFrom, removeUnacknowledged } from './progress.ts'
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
   * welcome lists. Notices in `outputs` name the others, after the welcome.
   */
  begin(
    positions: readonly Position[],
    cursors: ReadonlyMap<ChannelId, number>,
    outputs: Output[],
  ): readonly SubscribedChannel[] {
    const listed: SubscribedChannel[] = []
    for (const position of positions) {
      const list = listed.length < WELCOME_CHANNELS_MAX ? listed : undefined
      this.#add(position, cursors.get(position.channelId) ?? position.ackedSeq, { outputs, list })
    }
    this.#read(outputs)
    return listed
  }

  /** Takes a subscription that began, or began again, while the device is connected. */
  subscribe(position: Position, outputs: Output[]): void {
    this.#update(position, outputs)
    this.#read(outputs)
  }

  #update(position: Position, outputs: Output[]): void {
    const progress = this.#channels.get(position.channelId)
    if (progress !== undefined && progress.sinceSeq === position.sinceSeq) {
      this.#raiseHead(progress, position.headSeq)
    } else {
      this.#forget(position.channelId)
      // A device that got no notice of the end in between goes on from its position.
      const acked = Math.min(progress?.ackedSeq ?? 0, position.headSeq)
      const cursor = Math.max(position.ackedSeq, acked)
      this.#add(position, cursor, { outputs, list: undefined })
    }
  }

  rename(channelId: ChannelId, channelName: string, outputs: Output[]): void {
    const progress = this.#channels.get(channelId)
    if (progress === undefined) return
    const position = { headSeq: progress.announcedSeq, cursor: progress.sentSeq }
    outputs.push(noticeOutput({ kind: 'subscribed', channelId, channelName, ...position }))
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
    this.#raiseHead(progress, headSeq)
    this.#read(outputs)
  }

  /**
   * Takes the heads in the store. From here on the session also serves a channel that began during
   * the admission.
   */
  heads(positions: readonly Position[], outputs: Output[]): void {
    for (const position of positions) this.#update(position, outputs)
    this.#read(outputs)
  }

  /**
   * Takes pages. `resync`: a channel begins again while entries are unacknowledged, and only a new
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

  /** Postpones all channels of a read to a tick: another read now would be postponed as well. */
  postponed(ticket: number): void {
    for (const progress of this.#backlog?.arrived(ticket) ?? []) {
      if (this.#isCurrent(progress)) this.#postpone(progress)
    }
  }

  /**
   * Returns a fault for an unknown channel or a seq beyond the sent ones, and `stale` for a seq
   * that moves nothing and answers no `caught_up`.
   */
  acknowledge(channelId: ChannelId, seq: number, outputs: Output[]): Fault | 'moved' | 'stale' {
    const progress = this.#channels.get(channelId)
    if (progress === undefined) return fault('channel_not_found', { field: 'channel_id' })
    // serving/4
    if (seq > progress.sentSeq) {
      return fault('validation_failed', { field: 'seq', detail: 'seq is beyond what was sent' })
    }
    if (seq <= progress.ackedSeq) return answersCaughtUp(progress, seq) ? 'moved' : 'stale'
    progress.ackedSeq = seq
    const { entries, bytes } = removeUnacknowledged(progress, seq)
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
      list,
    }: { readonly outputs: Output[]; readonly list: SubscribedChannel[] | undefined },
  ): void {
    const { channelId, channelName, headSeq } = position
    // With a cursor beyond the feed the device has entries that the gateway lost: it begins again.
    const isAhead = cursor > headSeq
    const progress = progressFrom(position, isAhead ? 0 : cursor)
    const channel = { channelId, channelName, headSeq, cursor: progress.sentSeq }
    if (list === undefined) outputs.push(noticeOutput({ kind: 'subscribed', ...channel }))
    else list.push(channel)
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
    const { entries, bytes } = removeUnacknowledged(progress, Infinity)
    this.#window.release(entries, bytes)
    return true
  }

  /** Raises the announced seq: a live channel that has not sent it is behind. (serving/2) */
  #raiseHead(progress: Progress, seq: number): void {
    progress.announcedSeq = Math.max(progress.announcedSeq, seq)
    if (progress.stage === 'live' && progress.announcedSeq > progress.sentSeq) {
      this.#fallBehind(progress)
    }
  }

  #deliver(progress: Progress, frame: Frame, outputs: Output[]): boolean {
    if (!this.#window.take(frame.bytes)) return false
    progress.sentSeq = frame.seq // serving/1
    progress.unacknowledged.push({ seq: frame.seq, bytes: frame.bytes })
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

  /** False when the subscription ended or began again while its page was read. */
  #isCurrent(progress: Progress): boolean {
    return this.#channels.get(progress.channelId) === progress
  }

  #take(progress: Progress, page: FramePage, outputs: Output[]): Ended {
    const { channelId } = progress
    const before = progress.sentSeq
    if (page.gap !== undefined) {
      if (page.gap.restart && progress.unacknowledged.length > 0) return 'resync'
      const known = Math.min(before, page.headSeq)
      // A feed that ends before the last sent entry has lost entries: retention removes none at its
      // end.
      const reason = known < before ? 'reset' : 'retention'
      outputs.push(noticeOutput({ kind: 'gap', channelId, ...page.gap, reason }))
      if (page.gap.restart) {
        progress.sentSeq = 0
        progress.ackedSeq = 0
        progress.entriesSince = Math.max(progress.entriesSince, known) // serving/5
        progress.deletedSince = progress.entriesSince
      }
    }
    progress.removedTo = page.removedTo
    progress.announcedSeq = Math.max(progress.announcedSeq, page.headSeq)
    if (page.isEachEntry !== true) progress.hasEveryChange = false // serving/6
    for (const frame of page.frames) {
      if (frame.seq <= progress.sentSeq) continue // serving/1
      if (this.#deliver(progress, frame, outputs)) continue
      this.#fallBehind(progress)
      return 'goes-on'
    }
    if (page.complete) {
      progress.sentSeq = Math.max(progress.sentSeq, page.headSeq)
      progress.hasEveryChange = true
    }
    const isDone = page.complete && progress.announcedSeq <= progress.sentSeq
    if (isDone) this.#goLive(progress, outputs)
    else if (progress.sentSeq === before) this.#postpone(progress) // backlog/2
    else this.#fallBehind(progress)
    return 'goes-on'
  }

  #goLive(progress: Progress, outputs: Output[]): void {
    progress.stage = 'live'
    outputs.push(caughtUp(progress))
  }
}
