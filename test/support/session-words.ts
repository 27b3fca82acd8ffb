// Sessions in words: inputs made short, outputs written so that a test reads like a protocol trace.

import { deliveryIdOf } from '#domain/feed'
import type { CatchUpRequest, FeedEntry, Position } from '#domain/feed'
import { parseChannelId, parseMessageId, parseOperationId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import { encodeDelivery } from '#src/schemas/frames'
import { readGatewayFrame } from '#src/schemas/read-frames'
import { frameOf } from '#src/transports/channel-listeners'
import type { Frame, Input, Output } from '#src/transports/signals'

export const KEY = 'd'.repeat(32)

/** The channel with this letter: A, B, C … */
export function channel(letter: string): ChannelId {
  const id = parseChannelId(letter.repeat(25) + '0')
  if (id === undefined) throw new Error(`${letter} makes no channel id`)
  return id
}

/** The letter of a channel of `channel`. */
export const letterOf = (channelId: ChannelId): string => channelId.charAt(0)

export function entry(letter: string, seq: number, payload = '{"title":"a"}'): FeedEntry {
  const opId = parseOperationId(`op-${letter}-${seq}`)
  const entityId = parseMessageId(seq.toString(16).padStart(32, '0'))
  if (opId === undefined || entityId === undefined) throw new Error('bad ids')
  const ids = { channelId: channel(letter), opId, entityId }
  return { ...ids, seq, model: 'message', action: 'send', acceptedAt: 1, payload }
}

export const frames = (letter: string, from: number, to = from): readonly Frame[] =>
  Array.from({ length: to - from + 1 }, (_, at) => frameOf(entry(letter, from + at), 'live'))

/** A frame of so many bytes in all. */
export function bigFrame(letter: string, seq: number, bytes: number): Frame {
  const bare = encodeDelivery(entry(letter, seq, '{"x":""}'), 'live').length
  return frameOf(entry(letter, seq, JSON.stringify({ x: 'x'.repeat(bytes - bare) })), 'live')
}

/** A channel at a head, acknowledged up to `acked`. */
export function position(letter: string, headSeq: number, acked = headSeq, since = 0): Position {
  const channelId = channel(letter)
  return { channelId, channelName: `name of ${letter}`, headSeq, sinceSeq: since, ackedSeq: acked }
}

export const hello = (more: object = {}): Input => ({
  kind: 'received',
  text: JSON.stringify({ type: 'hello', device_key: KEY, ...more }),
})

export const received = (frame: object): Input => ({
  kind: 'received',
  text: JSON.stringify(frame),
})

export const ack = (letter: string, seq: number): Input =>
  received({ type: 'ack', channel_id: channel(letter), seq })

/** `headSeq`: the end of the feed when later entries were left out. */
export const announced = (
  letter: string,
  from: number,
  to = from,
  { headSeq = to }: { readonly headSeq?: number } = {},
): Input => ({
  kind: 'announced',
  channelId: channel(letter),
  frames: frames(letter, from, to),
  headSeq,
})

export const page = (
  ticket: number,
  frames_: readonly Frame[],
  more: {
    headSeq: number
    complete?: boolean
    restart?: boolean
    gapTo?: number
    isEachEntry?: true
  },
): Input => {
  const { headSeq, complete = true, restart = false, gapTo, isEachEntry } = more
  const removed = gapTo !== undefined && {
    gap: { from: 1, to: gapTo, restart },
    removedTo: { entries: gapTo, tombstones: restart ? gapTo : 0 },
  }
  const replayed = frames_.map((frame): Frame => ({ ...frame, mode: 'replay' }))
  const only = {
    frames: replayed,
    headSeq,
    complete,
    ...removed,
    ...(isEachEntry && { isEachEntry }),
  }
  return { kind: 'pages', ticket, pages: [only] }
}

/** Each output in a few words. */
export const inWords = (outputs: readonly Output[]): readonly string[] => outputs.map(wordsOf)

function wordsOf(output: Output): string {
  switch (output.kind) {
    case 'send':
      return frameInWords(output.text)
    case 'deliver':
      return `deliver ${frameInWords(output.frame.text)} ${output.frame.mode}`
    case 'admit':
      return 'admit'
    case 'read-pages':
      return `read ${output.ticket}: ${output.requests.map(requestInWords).join(', ')}`
    case 'read-positions':
      return 'read positions'
    case 'acknowledge':
      return `acknowledge ${letterOf(output.channelId)} ${output.seq}`
    case 'close':
      break
  }
  return `close ${output.code} ${output.reason}`
}

function requestInWords(request: CatchUpRequest): string {
  const { channelId, afterSeq, limit, removedTo, deletedSince } = request
  const known =
    (deletedSince === undefined ? '' : ` deleted since ${deletedSince}`) +
    (removedTo === undefined ? '' : ` removed ${removedTo.entries}/${removedTo.tombstones}`)
  return `${letterOf(channelId)} after ${afterSeq} limit ${limit}${known}`
}

function frameInWords(text: string): string {
  const frame = readGatewayFrame(text)
  if (frame === undefined) throw new Error(`no frame of the gateway: ${text}`)
  switch (frame.kind) {
    case 'welcome': {
      const channels = frame.channels.map(
        ({ channelId, headSeq, cursor }) => `${letterOf(channelId)} ${cursor}/${headSeq}`,
      )
      return ['welcome', ...channels].join(' ')
    }
    case 'deliver':
      if (frame.deliveryId !== deliveryIdOf(frame.channelId, frame.seq)) throw new Error('bad id')
      return `${letterOf(frame.channelId)} ${frame.seq}`
    case 'caught-up':
      return `caught up ${letterOf(frame.channelId)} ${frame.seq}`
    case 'gap': {
      const { channelId, from, to, reason, restart } = frame
      return `gap ${letterOf(channelId)} ${from}-${to} ${reason}${restart ? ' restart' : ''}`
    }
    case 'subscribed':
      return `subscribed ${letterOf(frame.channelId)} ${frame.cursor}/${frame.headSeq}`
    case 'unsubscribed':
      return `${frame.reason} ${letterOf(frame.channelId)}`
    case 'ping':
    case 'pong':
      return frame.mark === undefined ? frame.kind : `${frame.kind} ${frame.mark}`
    case 'error':
      return `error ${frame.code}`
    case 'goaway':
      break
  }
  return `goaway ${frame.reason} ${frame.retryAfterMs ?? '-'}`
}
