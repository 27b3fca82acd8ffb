// The judge: compares the final state with what the world outside has seen. It shares no code with
// the product; the only rule that it knows is that of each sentence below.

import { isOfPeople, judgePeople } from './judge-people.ts'
import { judgeRule } from './judge-rules.ts'
import { judgeSent, nameOf, newestOf } from './judge-sent.ts'
import type { DeviceView, Observations, ReceiverView, Sent } from './observations.ts'
import type { RuleKind } from './rules-of-channels.ts'
import { EPOCH_MS } from './virtual-runtime.ts'

/** One entry of a feed, as read at the end. */
export interface Entry {
  readonly channelId: string
  readonly seq: number
  readonly opId: string
  readonly model: string
  readonly action: string
  readonly entityId: string
  readonly acceptedAt: number
  readonly payload: string
}

/** The final state, as read from the gateway. */
export interface Final {
  /** Channels that nobody has deleted, or tried to. */
  readonly channels: readonly string[]
  readonly entries: readonly Entry[]
  /** By channel, Thing and key. */
  readonly values: ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, unknown>>>
  /** The rules of channels that have one. */
  readonly rules: ReadonlyMap<string, RuleKind>
  /** True when clocks are right: nobody has set one. */
  readonly isRight: boolean
  /** The time, by clocks that nobody has set. */
  readonly endMs: number
  /** The status of each operation, by op_id; absent for one without a record. */
  readonly statuses: ReadonlyMap<string, string>
  /** By device and channel: the head when the device joined. */
  readonly joinedAt: ReadonlyMap<string, ReadonlyMap<string, number>>
  /** True when a session could not be kept in time: then a publish without a name may come twice. */
  readonly isUnrecorded: boolean
}

/** Clocks that nobody sets differ by less. */
const MARGIN_MS = 5_000
const TOKEN = /token (\d+)|"key\d":(\d+)/

interface Receivers {
  readonly devices: readonly DeviceView[]
  readonly others: readonly ReceiverView[]
}

/** Adds a broken sentence for everything that is wrong. */
export function judge(
  observations: Observations,
  final: Final,
  { devices, others }: Receivers,
): void {
  const known = new Set(final.channels)
  const entries = final.entries.filter(({ channelId }) => known.has(channelId))
  const sent = observations.sent.filter(({ channelId }) => known.has(channelId))
  const byToken = new Map(sent.map((one) => [one.token, one]))
  const isOfRule = (entry: Entry): boolean =>
    final.rules.has(entry.channelId) && entry.model === 'event' && tokenOf(entry) === undefined
  const ofSenders = entries.filter((entry) => !isOfRule(entry) && !isOfPeople(entry))
  const applied = appliedTokens(observations, ofSenders, { byToken, final })
  for (const [channel, rule] of final.rules) {
    const own = entries.filter((entry) => entry.channelId === channel && !isOfPeople(entry))
    const ofChannel = own.toSorted((one, other) => one.seq - other.seq)
    const { isRight } = final
    const judged = { channelId: channel, rule, entries: ofChannel, byToken, tokenOf, isRight }
    if (known.has(channel)) judgeRule(observations, judged)
  }
  judgeSeqs(observations, final.channels, entries)
  const inOrder = entries.toSorted((one, other) => one.seq - other.seq)
  for (const channel of known) {
    const own = inOrder.filter(({ channelId }) => channelId === channel)
    judgePeople(observations, own, final)
  }
  judgeSent(observations, sent, { applied, final })
  judgeState(observations, expectedValues(sent, applied), final)
  for (const device of devices) judgeDevice(observations, device, { entries, final })
  for (const device of others) {
    const { deviceId, sentence } = device
    for (const [channel, since] of final.joinedAt.get(deviceId) ?? []) {
      judgeGot(observations, device, { entries, channel, since, sentence })
    }
  }
}

/** The token in what a sender has sent; undefined for an entry of a rule. */
export function tokenOf(entry: Pick<Entry, 'payload' | 'action'>): number | undefined {
  if (isOfPeople(entry)) return undefined // They repeat the title of their Event.
  const { payload } = entry
  const match = TOKEN.exec(payload)
  return match === null ? undefined : Number(match[1] ?? match[2])
}

interface Known {
  readonly byToken: ReadonlyMap<number, Sent>
  readonly final: Final
}

/** The tokens of the entries with their op_ids, each of which was sent, once, and not refused. */
function appliedTokens(
  observations: Observations,
  entries: readonly Entry[],
  { byToken, final: { isUnrecorded } }: Known,
): ReadonlyMap<number, string> {
  const applied = new Map<number, string>()
  for (const entry of entries) {
    const { channelId, seq } = entry
    const token = tokenOf(entry) ?? 0
    const one = byToken.get(token)
    const where = `token ${token} at ${seq} of ${channelId}`
    if (one === undefined || one.channelId !== channelId) {
      observations.break('nothing is applied that was not sent', where)
    } else if (one.outcome === 'refused') {
      observations.break('a refused submission is not applied', where)
    }
    if (one !== undefined && isEarly(one, entry)) {
      observations.break('a Message that waits is not sent before its time', where)
    }
    const mayRepeat = isUnrecorded && one?.isUnnamed === true
    if (applied.has(token) && !mayRepeat) {
      observations.break('a submission is applied once', where)
    }
    applied.set(token, entry.opId)
  }
  return applied
}

/** By clocks of different processes, which nobody has set. */
const isEarly = ({ sentMs, delayS }: Sent, { acceptedAt }: Entry): boolean =>
  delayS > 0 && acceptedAt < EPOCH_MS + sentMs + delayS * 1_000 - MARGIN_MS

function judgeSeqs(
  observations: Observations,
  channels: readonly string[],
  entries: readonly Entry[],
): void {
  for (const channel of channels) {
    const seqs = entries.filter(({ channelId }) => channelId === channel).map(({ seq }) => seq)
    seqs.sort((one, other) => one - other)
    const at = seqs.findIndex((seq, index) => seq !== index + 1)
    if (at < 0) continue
    const detail = `${channel} has ${seqs[at]} at place ${at + 1}`
    observations.break('seq has no hole and no repeat', detail)
  }
}

/** The token of each key: that of the newest observed_at, whatever the order of arrival. */
function expectedValues(
  sent: readonly Sent[],
  applied: ReadonlyMap<number, string>,
): ReadonlyMap<string, number> {
  const present = sent.filter(({ token, model }) => model === 'thing' && applied.has(token))
  const newest = newestOf(present)
  const winners = present.filter((one) => newest.get(nameOf(one)) === one.observedAt)
  return new Map(winners.map((one) => [nameOf(one), one.token]))
}

function judgeState(
  observations: Observations,
  expected: ReadonlyMap<string, number>,
  { values, channels }: Final,
): void {
  const actual = new Map<string, unknown>()
  for (const channel of channels) {
    for (const [thing, attrs] of values.get(channel) ?? []) {
      for (const [key, value] of attrs) {
        if (key !== 'level') actual.set(`${channel} ${thing} ${key}`, value)
      }
    }
  }
  for (const name of new Set([...expected.keys(), ...actual.keys()])) {
    if (expected.get(name) === actual.get(name)) continue
    const detail = `${name} is ${String(actual.get(name))}, not ${String(expected.get(name))}`
    observations.break('the state is the merge by key and time', detail)
  }
}

interface Compared {
  readonly entries: readonly Entry[]
  readonly final: Final
}

function judgeDevice(
  observations: Observations,
  device: DeviceView,
  { entries, final }: Compared,
): void {
  const joined = final.joinedAt.get(device.deviceId) ?? new Map<string, number>()
  for (const channel of device.values.keys()) {
    if (joined.has(channel)) continue
    observations.break('a device has its own channels only', `${device.name} has ${channel}`)
  }
  for (const [channel, since] of joined) {
    if (!final.channels.includes(channel)) continue
    const own = flat(device.values.get(channel))
    const real = flat(final.values.get(channel))
    if (own !== real) {
      const detail = `${device.name} in ${channel}: ${own} and not ${real}`
      observations.break('every device has the state at the end', detail)
    }
    const sentence = 'every device gets every Message and Event'
    judgeGot(observations, device, { entries, channel, since, sentence })
  }
}

interface Subscribed {
  readonly entries: readonly Entry[]
  readonly channel: string
  readonly since: number
  readonly sentence: string
}

function judgeGot(
  observations: Observations,
  { name, got }: Pick<DeviceView, 'name' | 'got'>,
  { entries, channel, since, sentence }: Subscribed,
): void {
  const missed = entries.find(
    ({ channelId, seq, model, opId }) =>
      channelId === channel && model !== 'thing' && seq > since && !got.has(opId),
  )
  if (missed !== undefined)
    observations.break(sentence, `${name} lacks ${missed.seq} of ${channel}`)
}

const flat = (things: ReadonlyMap<string, ReadonlyMap<string, unknown>> | undefined): string =>
  [...(things ?? [])]
    .flatMap(([thing, attrs]) =>
      [...attrs].map(([key, value]) => `${thing}.${key}=${String(value)}`),
    )
    .sort()
    .join(' ')
