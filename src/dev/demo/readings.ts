// Reads live values of this computer as the Things that `heliograph demo` publishes. A value that
// the system does not give is absent.
//
// The parsers turn the text of a file under /proc into plain values; the class at the end reads the
// files.

import { createHash } from 'node:crypto'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { cpus, freemem, hostname, loadavg, totalmem, uptime } from 'node:os'

import type { Fields } from '#domain/submission'

/** The present state of one Thing. */
export interface Reading {
  readonly thingId: string
  readonly title: string
  readonly attrs: Fields
}

const DISKS_MAX = 16
const INTERFACES_MAX = 16
const TOP_PROCESSES = 5
/** USER_HZ, the unit of CPU time in /proc: 100 on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100

interface CpuTimes {
  readonly busy: number
  readonly total: number
}

/** The busy share of the time between two readings, 0 to 100; undefined when no time passed. */
export function cpuPercentBetween(before: CpuTimes, after: CpuTimes): number | undefined {
  const total = after.total - before.total
  if (total <= 0) return undefined
  return tenths(Math.min(100, Math.max(0, (100 * (after.busy - before.busy)) / total)))
}

export interface Traffic {
  readonly rxBytes: number
  readonly txBytes: number
}

/** Reads /proc/net/dev: the bytes that each interface has carried since it came up. */
export function parseNetDev(text: string): ReadonlyMap<string, Traffic> {
  const interfaces = new Map<string, Traffic>()
  for (const line of text.split('\n')) {
    const [, name, rest] = /^\s*([^\s|]+):\s*(.*)$/.exec(line) ?? []
    if (name === undefined || rest === undefined) continue
    const columns = rest.trim().split(/\s+/).map(Number)
    const [rxBytes, txBytes] = [columns[0] ?? Number.NaN, columns[8] ?? Number.NaN]
    if (Number.isFinite(rxBytes + txBytes)) interfaces.set(name, { rxBytes, txBytes })
  }
  return interfaces
}

export interface ProcessTimes {
  readonly pid: number
  readonly name: string
  /** CPU time in user and kernel mode. */
  readonly ticks: number
  /** The time of its start; a later process with the same pid has another. */
  readonly startTicks: number
}

/** Reads /proc/<pid>/stat. The name in parentheses may hold spaces and parentheses itself. */
export function parseProcessStat(text: string): ProcessTimes | undefined {
  const open = text.indexOf('(')
  const close = text.lastIndexOf(')')
  if (open < 0 || close < open) return undefined
  const pid = Number(text.slice(0, open))
  const columns = text
    .slice(close + 1)
    .trim()
    .split(/\s+/)
    .map(Number)
  // Counted from the state, which is column 3 of the file: utime 14, stime 15, starttime 22.
  const [user, system, startTicks] = [columns[11], columns[12], columns[19]]
  if (user === undefined || system === undefined || startTicks === undefined) return undefined
  const times = { pid, name: text.slice(open + 1, close), ticks: user + system, startTicks }
  return Number.isFinite(pid + times.ticks + startTicks) ? times : undefined
}

/** Reads resident memory in /proc/<pid>/status; undefined for kernel threads, which have none. */
export function parseResidentBytes(text: string): number | undefined {
  const [, kibibytes] = /^VmRSS:\s*(\d+) kB$/m.exec(text) ?? []
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024
}

const READ_ONLY_IMAGES = new Set(['squashfs', 'iso9660', 'udf'])

/** Reads /proc/self/mounts: one mount point for each disk, always with the root, which is first. */
export function parseMounts(text: string): readonly string[] {
  const mountPointOf = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [device = '', escaped = '', type = ''] = line.split(' ')
    if (!device.startsWith('/dev/') || READ_ONLY_IMAGES.has(type)) continue
    const mountPoint = unescapeMount(escaped)
    if (mountPoint === '/' || !mountPointOf.has(device)) mountPointOf.set(device, mountPoint)
  }
  const others = [...mountPointOf.values()].filter((mountPoint) => mountPoint !== '/')
  return ['/', ...new Set(others)].slice(0, DISKS_MAX)
}

const unescapeMount = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)))

/**
 * A thing_id for a name that the system chose. Slashes become colons; a name that does not fit the
 * alphabet or the length gets a hash behind it, so two names never share an id.
 */
export function thingIdFor(kind: string, name: string): string {
  const plain = name === '/' ? 'root' : name.replace(/^\//, '').replaceAll('/', ':')
  const id = `${kind}:${plain}`
  const isExact = !name.includes(':') && (name === '/' || plain !== 'root')
  if (isExact && /^[A-Za-z0-9_:-]{1,64}$/.test(id)) return id
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
  return `${id.replace(/[^A-Za-z0-9_:-]/g, '_').slice(0, 55)}-${hash}`
}

const tenths = (value: number): number => Math.round(value * 10) / 10
const percent = (part: number, whole: number): number =>
  whole > 0 ? tenths((100 * part) / whole) : 0

/** The part of a reading from which the next one computes rates. */
interface Sample {
  readonly atMs: number
  readonly cpu: CpuTimes
  readonly traffic: ReadonlyMap<string, Traffic>
  readonly processes: ReadonlyMap<number, ProcessTimes>
}

/** Reads this computer. Rates and percentages cover the time since the last reading. */
export class Computer {
  readonly #monotonicMs: () => number
  #before: Sample | undefined

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs
  }

  async read(): Promise<readonly Reading[]> {
    const before = this.#before
    const sample: Sample = {
      atMs: this.#monotonicMs(),
      cpu: readCpuTimes(),
      traffic: parseNetDev(readText('/proc/net/dev')),
      processes: readProcesses(),
    }
    this.#before = sample
    const cpuPercent = before && cpuPercentBetween(before.cpu, sample.cpu)
    const rates = before === undefined ? [] : [...networks(before, sample), ...top(before, sample)]
    return [host(cpuPercent), ...(await disks()), ...rates]
  }
}

function host(cpuPercent: number | undefined): Reading {
  const [load1 = 0, load5 = 0, load15 = 0] = loadavg().map((load) => Math.round(load * 100) / 100)
  // Windows has no load average; Node gives zeros there.
  const load =
    process.platform === 'win32' ? {} : { load_1m: load1, load_5m: load5, load_15m: load15 }
  const total = totalmem()
  const used = total - freemem()
  return {
    thingId: 'host',
    title: hostname(),
    attrs: {
      ...(cpuPercent !== undefined && { cpu_percent: cpuPercent }),
      ...load,
      memory_used_bytes: used,
      memory_total_bytes: total,
      memory_percent: percent(used, total),
      uptime_seconds: Math.floor(uptime()),
    },
  }
}

async function disks(): Promise<readonly Reading[]> {
  const read = await Promise.all(parseMounts(readText('/proc/self/mounts')).map(disk))
  return read.filter((reading) => reading !== undefined)
}

async function disk(mountPoint: string): Promise<Reading | undefined> {
  try {
    // A container mounts single files too; they are not disks.
    if (!statSync(mountPoint).isDirectory()) return undefined
    const { bsize, blocks, bfree, bavail } = await statfs(mountPoint)
    const used = (blocks - bfree) * bsize
    const attrs = {
      used_bytes: used,
      total_bytes: blocks * bsize,
      used_percent: percent(used, used + bavail * bsize),
    }
    return { thingId: thingIdFor('disk', mountPoint), title: mountPoint, attrs }
  } catch {
    // The disk is unmounted by now, or this user may not read it.
    return undefined
  }
}

function networks(before: Sample, after: Sample): readonly Reading[] {
  const seconds = (after.atMs - before.atMs) / 1000
  const used = [...after.traffic].filter(([, { rxBytes, txBytes }]) => rxBytes + txBytes > 0)
  const busiest = used.toSorted(([, a], [, b]) => b.rxBytes + b.txBytes - a.rxBytes - a.txBytes)
  return busiest.slice(0, INTERFACES_MAX).flatMap(([name, traffic]) => {
    const earlier = before.traffic.get(name)
    if (earlier === undefined || seconds <= 0) return []
    const perSecond = (bytes: number): number => Math.max(0, Math.round(bytes / seconds))
    const attrs = {
      rx_bytes_per_second: perSecond(traffic.rxBytes - earlier.rxBytes),
      tx_bytes_per_second: perSecond(traffic.txBytes - earlier.txBytes),
    }
    return [{ thingId: thingIdFor('net', name), title: name, attrs }]
  })
}

/** The processes that used most CPU time, in percent of one processor as `top` shows it. */
function top(before: Sample, after: Sample): readonly Reading[] {
  const seconds = (after.atMs - before.atMs) / 1000
  return busiestProcesses(before.processes, after.processes).map(({ ticks, pid, name }) => {
    const memory = parseResidentBytes(readText(`/proc/${pid}/status`))
    const attrs = {
      cpu_percent: tenths((100 * ticks) / (TICKS_PER_SECOND * seconds)),
      ...(memory !== undefined && { memory_bytes: memory }),
    }
    return { thingId: `proc:${pid}`, title: name, attrs }
  })
}

/** At most five processes, the busiest first; `ticks` counts those between the two samples. */
export function busiestProcesses(
  before: ReadonlyMap<number, ProcessTimes>,
  after: ReadonlyMap<number, ProcessTimes>,
): readonly ProcessTimes[] {
  const used = [...after.values()].map((process) => {
    const earlier = before.get(process.pid)
    const isSame = earlier?.startTicks === process.startTicks
    return { ...process, ticks: process.ticks - (isSame ? earlier.ticks : 0) }
  })
  return used
    .filter(({ ticks }) => ticks > 0)
    .toSorted((a, b) => b.ticks - a.ticks || a.pid - b.pid)
    .slice(0, TOP_PROCESSES)
}

function readCpuTimes(): CpuTimes {
  let [busy, total] = [0, 0]
  for (const { times } of cpus()) {
    const active = times.user + times.nice + times.sys + times.irq
    busy += active
    total += active + times.idle
  }
  return { busy, total }
}

function readProcesses(): ReadonlyMap<number, ProcessTimes> {
  const processes = new Map<number, ProcessTimes>()
  for (const name of namesUnder('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const times = parseProcessStat(readText(`/proc/${name}/stat`))
    if (times !== undefined) processes.set(times.pid, times)
  }
  return processes
}

/** Empty where there is no /proc. */
function namesUnder(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Empty for a missing file: the system is another one, or the process has just ended. */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
