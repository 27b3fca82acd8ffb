// How attrs of Things are shown to people: an object of the channel. (Specification: Console, Attrs
// have a face)

import type { Thing } from '#domain/entity'
import type { ChannelId } from '#domain/identity'
import { bare } from '#domain/record'

/** How one attr is shown; what is absent is shown as it is. */
export interface AttrFace {
  readonly label?: string
  /** Empty: none, whatever earlier entries say. */
  readonly unit?: string
  /** The range of its values. */
  readonly min?: number
  readonly max?: number
  /** Places behind the decimal point. */
  readonly decimals?: number
  /** Words for true and false. */
  readonly on?: string
  readonly off?: string
  /** Its place among the attrs, the lowest first. */
  readonly order?: number
  readonly hidden?: boolean
}

export type Faces = Readonly<Record<string, AttrFace>>

/** The faces of attrs of some Things: those that fit both, or all. */
export interface PresentedThings {
  readonly things: { readonly prefix?: string; readonly tag?: string }
  /** By the names of attrs. */
  readonly attrs: Faces
}

/** Later ones win, member by member. */
export type Presentation = readonly PresentedThings[]

/** What devices say of an attr; null where two of them say different things. */
export interface DiscoveredFace {
  readonly label?: string | null
  readonly unit?: string | null
}

/** By the names of attrs. */
export type Discovered = Readonly<Record<string, DiscoveredFace>>

export type SaidOfAttr = readonly [name: string, face: DiscoveredFace]

export interface KeptPresentation {
  /** The text that `put` had. */
  readonly presentation: string
  /** JSON of Discovered. */
  readonly discovered: string
}

export interface DiscoveredAttrs {
  readonly channelId: ChannelId
  readonly attrs: Discovered
}

/** Attrs of a channel of which is kept what devices say. */
export const DISCOVERED_MAX = 256

export interface PresentationStore {
  /** Undefined when the channel has none or does not exist. */
  find(channelId: ChannelId): Promise<KeptPresentation | undefined>
  /** Keeps the text in place of the one before; false for no such channel. */
  put(channelId: ChannelId, presentation: string): Promise<boolean>
  /** Adds what devices say of attrs to what is known of them. */
  discover(discovered: readonly DiscoveredAttrs[]): Promise<void>
}

const NO_FACES: Faces = {}

/** The faces of the attrs of a Thing. */
export function facesOf(presentation: Presentation, thing: Thing): Faces {
  const fitting = presentation.filter(({ things }) => fits(things, thing))
  const [only] = fitting
  if (fitting.length < 2) return only?.attrs ?? NO_FACES
  const faces = bare<AttrFace>()
  for (const { attrs } of fitting) {
    for (const [name, face] of Object.entries(attrs)) faces[name] = { ...faces[name], ...face }
  }
  return faces
}

function fits({ prefix = '', tag }: PresentedThings['things'], { id, fields }: Thing): boolean {
  if (!id.startsWith(prefix)) return false
  if (tag === undefined) return true
  const { tags } = fields.values
  return Array.isArray(tags) && tags.includes(tag)
}

/** What is known of attrs, and what devices say of them now: each where they do not differ. */
export function withDiscovered(known: Discovered, said: Iterable<SaidOfAttr>): Discovered {
  const all = Object.assign(bare<DiscoveredFace>(), known)
  let room = DISCOVERED_MAX - Object.keys(all).length
  for (const [name, face] of said) {
    const before = all[name]
    if (before === undefined && room <= 0) continue
    if (before === undefined) room -= 1
    all[name] = { ...joined('label', before, face), ...joined('unit', before, face) }
  }
  return all
}

function joined(
  member: 'label' | 'unit',
  before: DiscoveredFace | undefined,
  face: DiscoveredFace,
): DiscoveredFace {
  const [known, said] = [before?.[member], face[member]]
  const value = known === undefined || known === said ? said : said === undefined ? known : null
  return value === undefined ? {} : { [member]: value }
}
