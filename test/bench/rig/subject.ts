// A subject of load: the product and the denominators, behind one type.

import type { Recipe } from '#test/bench/load/payload'
import type { RowCounts, Stored } from './database.ts'
import type { Server } from './server.ts'

/** A subject, ready to be measured. */
export interface Subject {
  readonly name: string
  /** Its processes. */
  readonly servers: readonly Server[]
  /** Those that take requests; connections and devices are spread over all of them. */
  readonly entrances: readonly Server[]
  /** Process ids of the database and NATS, by name. */
  readonly backend: Readonly<Record<string, number>>
  readonly recipe: Recipe
  /** Devices whose sessions together see every channel; none: nothing is delivered. */
  readonly deviceKeys: readonly string[]
  /** Submissions applied since it was started; undefined: it applies nothing. */
  applied(): Promise<number | undefined>
  /** Undefined: it keeps nothing. Asked also after the servers were stopped. */
  count(): Promise<RowCounts | undefined>
  /** What its database takes; absent: it keeps nothing that is measured so. */
  stored?(): Promise<Stored>
  /** Ends the database and NATS. */
  readonly release: () => Promise<void>
  /** Details for the record: engine, sync, lanes, batch limits, processes. */
  readonly ran: Readonly<Record<string, string | number>>
}

/** The sum over all labels of a metric in a Prometheus text. */
export function counterIn(text: string, name: string): number {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

/** Submissions that ended, as the servers' own metrics tell. */
export async function operationsEnded(servers: readonly Server[], token: string): Promise<number> {
  const ended = await Promise.all(
    servers.map((server) => metricOf(server, { token, name: 'heliograph_operations_total' })),
  )
  return ended.reduce((sum, count) => sum + count, 0)
}

/** One metric of a server, summed over its labels. */
export async function metricOf(
  { port }: Pick<Server, 'port'>,
  { token, name }: { readonly token: string; readonly name: string },
): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, {
    headers: token === '' ? {} : { authorization: `Bearer ${token}` },
  })
  return counterIn(await response.text(), name)
}
