// Folds the submissions of a turn over the state in memory and makes the frames, for both D4. The
// caller gets the rows to write one by one.

export type Submission = readonly [
  op: string,
  channel: string,
  thing: string,
  observedAt: number,
  acceptedAt: number,
  title: string,
  attrs: Readonly<Record<string, unknown>>,
]

export interface LoggedBatch {
  /** JSON of Submission[]: what the log keeps. */
  readonly payload: string
  readonly count: number
}

/** Frames of one turn, one behind the other; `ends` are their ends. */
export interface Applied {
  readonly frames: Uint8Array<ArrayBuffer>
  readonly ends: Uint32Array
}

export interface Channel {
  readonly ref: number
  seq: number
}

export interface Thing {
  readonly id: string
  readonly channel: Channel
  rev: number
  seq: number
  title: string
  attrs: Record<string, unknown>
}

/** One submission as it was applied. */
export interface Effect {
  readonly op: string
  readonly at: number
  readonly thing: Thing
  /** The entry as the feed keeps it. */
  readonly payload: string
}

export interface Folding {
  /** A channel that came for the first time. */
  readonly made: (channel: Channel, id: string) => void
  readonly effect: (effect: Effect) => void
}

const FRAME_BYTES_MAX = 1_024

const channels = new Map<string, Channel>()
const things = new Map<string, Thing>()

function channelOf(id: string, made: Folding['made']): Channel {
  const known = channels.get(id)
  if (known !== undefined) return known
  const channel = { ref: channels.size + 1, seq: 0 }
  made(channel, id)
  channels.set(id, channel)
  return channel
}

function thingOf(channelId: string, id: string, made: Folding['made']): Thing {
  const key = channelId + id
  const known = things.get(key)
  if (known !== undefined) return known
  const channel = channelOf(channelId, made)
  const thing = { id, channel, rev: 0, seq: 0, title: '', attrs: {} }
  things.set(key, thing)
  return thing
}

/** Folds a turn; gives its frames and the things whose state it changed. */
export function fold(
  turn: readonly Submission[],
  { made, effect }: Folding,
): { readonly applied: Applied; readonly changed: ReadonlySet<Thing> } {
  const frames = Buffer.allocUnsafeSlow(turn.length * FRAME_BYTES_MAX)
  const ends = new Uint32Array(turn.length)
  const changed = new Set<Thing>()
  let end = 0
  turn.forEach(([op, channelId, thingId, , at, title, attrs], index) => {
    const thing = thingOf(channelId, thingId, made)
    const { channel } = thing
    channel.seq += 1
    thing.rev += 1
    thing.seq = channel.seq
    thing.title = title
    Object.assign(thing.attrs, attrs)
    changed.add(thing)
    const payload = `{"title":${JSON.stringify(title)},"attrs":${JSON.stringify(attrs)}}`
    effect({ op, at, thing, payload })
    end += frames.write(
      `{"type":"deliver","channel_id":"${channelId}","seq":${channel.seq},` +
        `"delivery_id":"${channelId}-${channel.seq}","op_id":"${op}","model":"thing",` +
        `"action":"update","entity_id":"${thingId}","state":"active","rev":${thing.rev},` +
        `"accepted_at":${at},"payload":${payload}}`,
      end,
      'latin1',
    )
    ends[index] = end
  })
  return { applied: { frames: frames.subarray(0, end), ends }, changed }
}

/** The state of a thing as it is stored. */
export const stateOf = ({ title, attrs }: Thing): string => JSON.stringify({ title, attrs })
