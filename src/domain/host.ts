// Hosts: the name by which budgets and bounds count one, and which of them are this computer; and the
// bound on what callers hold at a time, in total and from one address.
//
// Invariants:
//   slots/1. What is taken counts in the total and for its address until it is released, once; an
//            address that holds nothing uses no memory.

/** An IPv6 address, perhaps with a zone; groupsOf reads it group by group. */
const IPV6 = /^[0-9a-f]*:[0-9a-f:.]*(%.+)?$/i

/**
 * The name by which one host is counted: the /64 of an IPv6 address, the IPv4 address that an IPv6
 * address maps, and any other text as it is.
 */
export function hostOf(address: string): string {
  if (!IPV6.test(address)) return address
  const groups = groupsOf(address)
  if (groups.length !== 8 || groups.some((group) => !(group <= 0xffff))) return address
  const [high = 0, low = 0] = groups.slice(6)
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1|\[::1\]|localhost)$/i

/** True for a name or address by which only programs on this computer reach each other. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host)

/**
 * The IPv6 networks around a host that hostOf named, its /56 and its /48: one subscriber or site
 * chooses among all addresses of its own. None for any other host.
 */
export function networksOf(host: string): readonly string[] {
  if (!host.endsWith('::/64')) return []
  const [first = '', second = '', third = '', fourth = ''] = host.split(':')
  const site = `${first}:${second}:${third}`
  return [`${site}:${Number.parseInt(fourth, 16) >> 8}/56`, `${site}/48`]
}

/** The eight groups of an IPv6 address; its zone is left out. */
function groupsOf(address: string): readonly number[] {
  const [plain = ''] = address.split('%')
  const [before = '', after] = plain.split('::')
  const head = parsedGroups(before)
  if (after === undefined) return head
  const tail = parsedGroups(after)
  const zeros = Math.max(0, 8 - head.length - tail.length)
  return [...head, ...Array<number>(zeros).fill(0), ...tail]
}

function parsedGroups(text: string): readonly number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}

export interface SlotBounds {
  readonly total: number
  readonly perAddress: number
}

export interface Slot {
  /** Frees the slot; only the first call counts. */
  release(): void
}

/** The bound that is reached: the total, or that of the address. */
export type SlotRefusal = 'server_busy' | 'rate_limited'

export class Slots {
  readonly #bounds: SlotBounds
  readonly #byHost = new Map<string, number>()
  #taken = 0

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds
  }

  get taken(): number {
    return this.#taken
  }

  /** Returns the bound that keeps an address from taking `count` more; undefined when none does. */
  refusal(address: string | undefined, count = 1): SlotRefusal | undefined {
    if (this.#taken + count > this.#bounds.total) return 'server_busy'
    if (address === undefined) return undefined
    const held = this.#byHost.get(hostOf(address)) ?? 0
    return held + count > this.#bounds.perAddress ? 'rate_limited' : undefined
  }

  /** Takes `count` for an address, or in total only when it is undefined. */
  take(address: string | undefined, count = 1): Slot | SlotRefusal {
    const refusal = this.refusal(address, count)
    if (refusal !== undefined) return refusal
    const host = address && hostOf(address)
    this.#add(host, count)
    return new TakenSlot(() => this.#add(host, -count))
  }

  #add(host: string | undefined, count: number): void {
    this.#taken += count
    if (host === undefined) return
    const held = (this.#byHost.get(host) ?? 0) + count
    if (held === 0) this.#byHost.delete(host)
    else this.#byHost.set(host, held)
  }
}

class TakenSlot implements Slot {
  #release: (() => void) | undefined

  constructor(release: () => void) {
    this.#release = release
  }

  release(): void {
    this.#release?.()
    this.#release = undefined // slots/1
  }
}
