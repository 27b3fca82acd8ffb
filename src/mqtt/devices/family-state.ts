// What earlier publishes of a connection said about later ones: aliases, data types, topics. It
// lives as long as its connection, and may be lost at any time: devices say it again when asked.

/** A bounded map from text, the oldest entry of which goes first. */
export type Known<Value> = ReadonlyMap<string, Value>

/** The data type of a Sparkplug metric, by its number in the specification. */
export interface SparkplugMetric {
  readonly name: string
  readonly datatype: number
}

/** One Sparkplug edge node with its devices. */
export interface SparkplugNode {
  /** By alias, which is unique in the node and its devices. */
  readonly aliases: Known<SparkplugMetric>
  /** Data types by device (empty text for the node itself) and metric name, joined by a slash. */
  readonly datatypes: Known<number>
  readonly devices: readonly string[]
  /** The sequence number of the node's newest publish. */
  readonly seq: number
  /** The birth that a death certificate belongs to; absent when the birth had none. */
  readonly bdSeq?: number
  /** True after a rebirth was asked for, until the birth comes. */
  readonly isAsked: boolean
}

/** One Homie device, of its description. */
export interface HomieDevice {
  /** The device whose loss is the loss of this one. */
  readonly root?: string
  /** Data types by node and property, joined by a slash. */
  readonly datatypes: Known<string>
}

/** The place at which the value of a discovered topic is kept. */
export interface DiscoveredValue {
  readonly thingId: string
  readonly attr: string
  /** Names that lead to the value in a JSON payload; empty for the payload itself. */
  readonly path: readonly string[]
}

export interface FamilyState {
  /** By `group/edge`. */
  readonly sparkplug: Known<SparkplugNode>
  /** By `domain/device`. */
  readonly homie: Known<HomieDevice>
  /** By state topic, and within it by discovery topic and component. */
  readonly discovered: Known<Known<DiscoveredValue>>
}

const NONE: Known<never> = new Map<string, never>()

/** The state of a new connection. */
export const NO_STATE: FamilyState = { sparkplug: NONE, homie: NONE, discovered: NONE }

/** The map with one more entry, without its oldest when it would grow beyond `max`. */
export function withKnown<Value>(
  known: Known<Value>,
  key: string,
  { value, max }: { readonly value: Value; readonly max: number },
): Known<Value> {
  const next = new Map(known)
  next.delete(key)
  next.set(key, value)
  for (const oldest of next.keys()) {
    if (next.size <= max) break
    next.delete(oldest)
  }
  return next
}
