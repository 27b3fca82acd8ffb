// Reads from /proc what a process has used (Linux).

import { readFileSync } from 'node:fs'

const TICK_SECONDS = 0.01
const USER_TICKS_FIELD = 11

/** Seconds of CPU, user and system, all threads. (/proc/<pid>/stat, fields 14 and 15) */
export function cpuSecondsOf(pid: number): number {
  return cpuSecondsFrom(readFileSync(`/proc/${pid}/stat`, 'utf8'))
}

/** The same from the text of a stat file; the name in brackets may hold spaces and brackets. */
export function cpuSecondsFrom(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[USER_TICKS_FIELD]) + Number(fields[USER_TICKS_FIELD + 1])) * TICK_SECONDS
}

/** The same of several processes, by name. */
export const cpuSecondsByName = (
  pids: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> => byName(pids, cpuSecondsOf)

/** CPU time between two readings, by name. */
export const secondsBetween = (
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> =>
  byName(after, (seconds, name) => seconds - (before[name] ?? 0))

function byName(
  values: Readonly<Record<string, number>>,
  give: (value: number, name: string) => number,
): Readonly<Record<string, number>> {
  const given = Object.entries(values).map(([name, value]) => [name, give(value, name)] as const)
  return Object.fromEntries(given)
}

/** Resident memory in MB of 10^6 bytes. */
export function residentMbOf(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 'NaN'
  return (Number(kilobytes) * 1_024) / 1e6
}
