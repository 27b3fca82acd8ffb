// Encodes and decodes the texts of the bus. An announcement has lines: a JSON array that describes
// the entries, then the payload of each entry, so that nobody escapes or parses a payload.
//
// Invariants:
//   bus-text/1. A reader accepts a text whole or refuses it whole: another process may run another
//     version.
//   bus-text/2. No text is longer than `bytesMax`. The encoder omits an entry that does not fit,
//     and `headSeq` shows that there are more.

import type { Announcement, FeedEntry } from '#domain/feed'
import { parseChannelId, parseDeviceId, parseOperationId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import type { Notice, Reach } from '#domain/ports'
import { ACTIONS, MODELS, parseEntityId } from '#domain/submission'

import { isCount, jsonOf, recordFrom } from '#domain/record'

const LINE = '\n'
/** Bound for the bytes of the head seq and of the brackets around the descriptions. */
const FRAME_BYTES = 64

interface EntryText {
  readonly description: string
  readonly payload: string
}

/** Splits an announcement into texts of at most `bytesMax`, in order. (bus-text/2) */
export function encodeAnnouncement(
  { entries, headSeq }: Announcement,
  bytesMax: number,
): readonly string[] {
  const texts: string[] = []
  let entryTexts: EntryText[] = []
  let bytes = FRAME_BYTES
  let omittedSeq = headSeq ?? 0
  for (const entry of entries) {
    const text = entryText(entry)
    const size = Buffer.byteLength(text.description) + Buffer.byteLength(text.payload) + 2
    if (FRAME_BYTES + size > bytesMax) {
      omittedSeq = Math.max(omittedSeq, entry.seq)
      continue
    }
    if (bytes + size > bytesMax) {
      texts.push(announcementText(entryTexts, 0))
      entryTexts = []
      bytes = FRAME_BYTES
    }
    entryTexts.push(text)
    bytes += size
  }
  if (entryTexts.length > 0 || omittedSeq > 0) texts.push(announcementText(entryTexts, omittedSeq))
  return texts
}

const announcementText = (entryTexts: readonly EntryText[], headSeq: number): string =>
  [
    `[${[String(headSeq), ...entryTexts.map(({ description }) => description)].join(',')}]`,
    ...entryTexts.map(({ payload }) => payload),
  ].join(LINE)

function entryText(entry: FeedEntry): EntryText {
  const { seq, opId, model, action, entityId, acceptedAt, state, rev, payload } = entry
  const values = [seq, opId, model, action, entityId, acceptedAt, state ?? null, rev ?? null]
  return { description: JSON.stringify(values), payload }
}

/** Returns the announcement in a text; undefined when the text is no announcement. (bus-text/1) */
export function decodeAnnouncement(channelId: ChannelId, text: string): Announcement | undefined {
  const [head = '', ...payloads] = text.split(LINE)
  const values = jsonOf(head)
  if (!Array.isArray(values)) return undefined
  const [headSeq, ...descriptions] = values as readonly unknown[]
  if (!isCount(headSeq) || descriptions.length !== payloads.length) return undefined
  const entries: FeedEntry[] = []
  for (const [index, description] of descriptions.entries()) {
    const entry = entryFrom(description, { channelId, payload: payloads[index] ?? '' })
    if (entry === undefined) return undefined
    entries.push(entry)
  }
  return { channelId, entries, ...(headSeq > 0 && { headSeq }) }
}

function entryFrom(
  description: unknown,
  rest: { readonly channelId: ChannelId; readonly payload: string },
): FeedEntry | undefined {
  if (!Array.isArray(description)) return undefined
  const [seq, opIdText, modelText, actionText, entity, acceptedAt, state, rev] =
    description as readonly unknown[]
  const opId = typeof opIdText === 'string' ? parseOperationId(opIdText) : undefined
  const model = MODELS.find((known) => known === modelText)
  const action = ACTIONS.find((known) => known === actionText)
  if (opId === undefined || model === undefined || action === undefined) return undefined
  const entityId = parseEntityId(model, entity)
  if (entityId === undefined || !isCount(seq) || !isCount(acceptedAt)) return undefined
  return {
    ...rest,
    seq,
    opId,
    model,
    action,
    entityId,
    acceptedAt,
    ...(typeof state === 'string' && { state }),
    ...(isCount(rev) && { rev }),
  }
}

export const encodeNotice = (notice: Notice): string => JSON.stringify(notice)

/** Returns the notice in a text; undefined when this version does not know it. (bus-text/1) */
export function decodeNotice(text: string): Notice | undefined {
  const sent = recordFrom(text)
  const { kind, lane, position, carrier, number, keyId, node, providers } = sent
  const channelId = parsed(parseChannelId, sent['channelId'])
  const deviceId = parsed(parseDeviceId, sent['deviceId'])
  switch (kind) {
    case 'pushes-queued':
    case 'leases-changed':
      return { kind }
    case 'providers':
      if (typeof node !== 'string' || typeof providers !== 'string') return undefined
      return { kind, node, providers }
    case 'applied':
      if (!isCount(lane) || !isCount(position)) return undefined
      return { kind, lane, position, ...reachesIn(sent['reaches']) }
    case 'lane-taken':
      return isCount(lane) ? { kind, lane } : undefined
    case 'credentials-changed':
      if (channelId === undefined) return undefined
      return typeof keyId === 'string' ? { kind, channelId, keyId } : { kind, channelId }
    case 'channel-renamed': {
      const { channelName } = sent
      if (channelId === undefined || typeof channelName !== 'string') return undefined
      return { kind, channelId, channelName }
    }
    case 'channel-deleted':
    case 'mappings-changed':
      return channelId === undefined ? undefined : { kind, channelId }
    case 'subscribed':
    case 'unsubscribed':
      if (channelId === undefined || deviceId === undefined) return undefined
      return { kind, channelId, deviceId }
    case 'session-opened':
      if (deviceId === undefined || !isCount(number) || typeof carrier !== 'string')
        return undefined
      return { kind, deviceId, carrier, number }
    default:
      return undefined
  }
}

/** Leaves out what is not the reach of a channel. */
function reachesIn(sent: unknown): { readonly reaches?: readonly Reach[] } {
  if (!Array.isArray(sent)) return {}
  const reaches = sent.flatMap((pair: unknown): Reach[] => {
    if (!Array.isArray(pair)) return []
    const [id, rules] = pair as readonly unknown[]
    const channelId = parsed(parseChannelId, id)
    return channelId === undefined || !isCount(rules) ? [] : [[channelId, rules]]
  })
  return { reaches }
}

const parsed = <Id>(parser: (text: string) => Id | undefined, value: unknown): Id | undefined =>
  typeof value === 'string' ? parser(value) : undefined
