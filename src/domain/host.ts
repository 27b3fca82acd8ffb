// Hosts: the name by which budgets and bounds count one, and which of them are this computer.

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
